// Category: what sort of work a kernel does. Closed: every kernel has one.
//
// Where categories meet: `layout` moves elements and computes nothing (copies, casts, transposes, concatenation, gather,
// scatter, embedding); softmax, pooling, losses, scans are `reduction`; random numbers, dropout and foreach arithmetic are
// `elementwise`; a GEMM that a convolution launches is `conv`; helpers of a library stay with what they serve, but layout
// transforms are `layout`.
#pragma once

#include <cstdint>
#include <string_view>

namespace ridge {

enum class Category : std::uint8_t {
  triton_pointwise,
  triton_reduction,
  triton_persistent_reduction,
  triton_template,
  triton_foreach,
  triton_split_scan,
  triton_user,
  triton_other,
  gemm,
  conv,
  attention,
  norm,
  elementwise,
  reduction,
  layout,
  optimizer,
  comm,
  memcpy,
  memset,
  other,
};
inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::other) + 1;

std::string_view name_of(Category category);

}  // namespace ridge
