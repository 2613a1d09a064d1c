// Sizes from the call's shapes, alignment from its strides.
#include "analysis/findings/product_shape.h"

#include <algorithm>
#include <cmath>

#include "ops/op_work.h"

namespace ridge {
namespace {

constexpr double kRowBytes = 16;  // one vector load

// Distance between rows in elements: the longer stride of the last two dimensions; dense when none were recorded.
double row_distance(const TensorShape& t) {
  const std::size_t n = t.sizes.size();
  if (t.strides.size() == n) return static_cast<double>(std::max(t.strides[n - 1], t.strides[n - 2]));
  return static_cast<double>(t.sizes[n - 1]);
}

bool off_grid(double elements, double item) { return std::fmod(elements * item, kRowBytes) != 0; }

}  // namespace

std::optional<ProductShape> product_shape(const OpCall& call) {
  const OpFormula* row = find_op(call.op);
  const ProductPositions* at = row == nullptr ? nullptr : product_positions(*row);
  if (at == nullptr || call.arguments.size() <= static_cast<std::size_t>(std::max(at->a, at->b))) return std::nullopt;
  const TensorShape& a = call.arguments[static_cast<std::size_t>(at->a)].tensor;
  const TensorShape& b = call.arguments[static_cast<std::size_t>(at->b)].tensor;
  if (a.sizes.size() < 2 || b.sizes.size() != a.sizes.size() || a.dtype != b.dtype) return std::nullopt;
  const std::size_t n = a.sizes.size();
  ProductShape s{.m = static_cast<double>(a.sizes[n - 2]),
                 .n = static_cast<double>(b.sizes[n - (at->b_by_rows ? 2 : 1)]),
                 .k = static_cast<double>(a.sizes[n - 1]),
                 .item = item_bytes(a.dtype)};
  const bool tensor_cores = a.dtype == DType::f16 || a.dtype == DType::bf16 || a.dtype == DType::f32 || a.dtype == DType::f8;
  if (!tensor_cores || s.m < 1 || s.n < 1 || s.k < 1) return std::nullopt;
  s.misaligned = off_grid(row_distance(a), s.item) || off_grid(row_distance(b), s.item) || off_grid(s.n, s.item);
  return s;
}

}  // namespace ridge
