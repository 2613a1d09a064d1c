// Two tables: size and name of each type, and the other spellings that traces use.
#include "base/dtype.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace ridge {
namespace {

struct Row {
  std::string_view name;
  double bytes;
};

// In the order of the enum.
constexpr Row kRows[] = {
    {"", 0},         {"float64", 8}, {"float32", 4}, {"tf32", 4},      {"float16", 2},     {"bfloat16", 2}, {"float8", 1},
    {"float4", 0.5}, {"int64", 8},   {"int32", 4},   {"int16", 2},     {"int8", 1},        {"uint8", 1},    {"uint16", 2},
    {"uint32", 4},   {"uint64", 8},  {"bool", 1},    {"complex64", 8}, {"complex128", 16},
};
static_assert(std::size(kRows) == kDTypes);

struct Spelling {
  std::string_view text;
  DType dtype;
};

// Other names than torch's own: C++ as ATen's type names have it, CUDA's, Triton's signature letters, NCCL's.
constexpr Spelling kSpellings[] = {
    {"double", DType::f64},
    {"fp64", DType::f64},
    {"f64", DType::f64},
    {"float", DType::f32},
    {"fp32", DType::f32},
    {"f32", DType::f32},
    {"half", DType::f16},
    {"Half", DType::f16},
    {"__half", DType::f16},
    {"half_t", DType::f16},
    {"fp16", DType::f16},
    {"f16", DType::f16},
    {"BFloat16", DType::bf16},
    {"__nv_bfloat16", DType::bf16},
    {"bfloat16_t", DType::bf16},
    {"bf16", DType::bf16},
    {"long", DType::i64},
    {"long int", DType::i64},
    {"long long", DType::i64},
    {"i64", DType::i64},
    {"int64_t", DType::i64},
    {"int", DType::i32},
    {"i32", DType::i32},
    {"int32_t", DType::i32},
    {"short", DType::i16},
    {"short int", DType::i16},
    {"i16", DType::i16},
    {"signed char", DType::i8},
    {"char", DType::i8},
    {"i8", DType::i8},
    {"int8_t", DType::i8},
    {"s8", DType::i8},
    {"unsigned char", DType::u8},
    {"byte", DType::u8},
    {"u8", DType::u8},
    {"uint8_t", DType::u8},
    {"unsigned short", DType::u16},
    {"short unsigned int", DType::u16},
    {"u16", DType::u16},
    {"unsigned int", DType::u32},
    {"u32", DType::u32},
    {"unsigned long", DType::u64},
    {"long unsigned int", DType::u64},
    {"u64", DType::u64},
    {"i1", DType::boolean},
    {"complex<float>", DType::c64},
    {"complex<double>", DType::c128},
    {"ComplexFloat", DType::c64},
    {"ComplexDouble", DType::c128},
    {"Double", DType::f64},
    {"Float", DType::f32},
    {"Long", DType::i64},
    {"Int", DType::i32},
    {"Short", DType::i16},
    {"Char", DType::i8},
    {"Byte", DType::u8},
    {"Bool", DType::boolean},
};

std::string_view without(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// All 8-bit and 4-bit floating-point formats: Float8_e4m3fn, fp8e4nv, e4m3, Float4_e2m1fn_x2.
DType narrow_float(std::string_view text) {
  for (const std::string_view prefix : {"Float8", "float8", "fp8", "f8", "e4m3", "e5m2"}) {
    if (text.starts_with(prefix)) return DType::f8;
  }
  for (const std::string_view prefix : {"Float4", "float4", "fp4", "f4", "e2m1"}) {
    if (text.starts_with(prefix)) return DType::f4;
  }
  return DType::unknown;
}

}  // namespace

std::string_view name_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].name; }

double item_bytes(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].bytes; }

DType parse_dtype(std::string_view text) {
  for (const std::string_view prefix : {"*", "torch.", "c10::", "at::", "cutlass::"}) text = without(text, prefix);
  if (text.empty()) return DType::unknown;
  for (std::size_t i = 1; i < kDTypes; ++i) {
    if (kRows[i].name == text) return static_cast<DType>(i);
  }
  const auto* found =
      std::find_if(std::begin(kSpellings), std::end(kSpellings), [&](const Spelling& s) { return s.text == text; });
  return found != std::end(kSpellings) ? found->dtype : narrow_float(text);
}

}  // namespace ridge
