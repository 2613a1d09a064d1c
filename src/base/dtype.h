// Element types: their size, and the names by which a trace spells them (C++ names of ATen, Triton's signature letters, torch's
// own).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ridge {

enum class DType : std::uint8_t {
  unknown,
  f64,
  f32,
  tf32,  // float32 tensors multiplied by TF32 units; 4 bytes in memory
  f16,
  bf16,
  f8,  // all 8-bit floating-point formats
  f4,
  i64,
  i32,
  i16,
  i8,
  u8,
  u16,
  u32,
  u64,
  boolean,
  c64,   // two f32
  c128,  // two f64
};
inline constexpr std::size_t kDTypes = static_cast<std::size_t>(DType::c128) + 1;

// "float32", "bfloat16": torch's name; "float8" for all of f8. Empty for unknown.
std::string_view name_of(DType dtype);

// Bytes of one element; f4 is half a byte, hence double. 0 for unknown.
double item_bytes(DType dtype);

// Any spelling: "c10::BFloat16", "long int", "float", "bf16", "torch.float16", "fp32", "*fp8e4nv". unknown when it is none.
DType parse_dtype(std::string_view text);

}  // namespace ridge
