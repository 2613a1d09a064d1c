// Keys of dimensions: the (batch, M, K, N) of a product, the sizes of a convolution.
#include "analysis/diff/shapes.h"

#include <algorithm>

namespace ridge::diff {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 62;

TensorDims evidence_of(const std::vector<std::int64_t>& sizes) {
  TensorDims out;
  if (sizes.empty()) return out;
  out.dims = 1;
  out.numel = 1;
  for (const std::int64_t size : sizes) {
    out.dims = combine(out.dims, static_cast<std::uint64_t>(size));
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0));
    out.numel = factor != 0 && out.numel > kMostElements / factor ? kMostElements : out.numel * factor;
  }
  return out;
}

std::uint64_t key_of(std::initializer_list<std::int64_t> numbers) {
  std::uint64_t key = 1;
  for (const std::int64_t number : numbers) key = combine(key, static_cast<std::uint64_t>(number));
  return key;
}

// (batch, M, K, N) of the product of two operands of rank 2 or 3.
std::uint64_t product_key(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (a.size() < 2 || b.size() < 2 || a.size() > 3 || b.size() > 3) return 0;
  const std::int64_t batch = a.size() == 3 ? a[0] : 1;
  return key_of({batch, a[a.size() - 2], a.back(), b.back()});
}

}  // namespace

bool Shapes::holds_dims(std::uint64_t dims) const {
  return dims != 0 && std::any_of(tensors.begin(), tensors.end(), [&](const TensorDims& t) { return t.dims == dims; });
}

bool Shapes::holds_numel(std::uint64_t count) const {
  return count != 0 && std::any_of(tensors.begin(), tensors.end(), [&](const TensorDims& t) { return t.numel == count; });
}

Shapes parse_shapes(std::string_view text) {
  Shapes shapes;
  int depth = 0;
  std::vector<std::int64_t> sizes;
  std::int64_t number = 0;
  bool in_number = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = std::min<std::int64_t>(number * 10 + (c - '0'), std::int64_t{1} << 58);
      in_number = true;
      continue;
    }
    if (in_number) sizes.push_back(number);
    number = 0;
    in_number = false;
    if (c == '[') {
      ++depth;
      sizes.clear();
    } else if (c == ']') {
      if (--depth >= 1) {  // the outermost bracket holds the arguments
        if (depth == 1) shapes.sizes.push_back(sizes);
        if (!sizes.empty()) shapes.tensors.push_back(evidence_of(sizes));
      }
      sizes.clear();
    }
  }
  for (const TensorDims& tensor : shapes.tensors) {
    if (tensor.numel > shapes.numel) {
      shapes.numel = tensor.numel;
      shapes.largest = tensor.dims;
    }
  }
  return shapes;
}

std::uint64_t heavy_shape(std::string_view sort, std::string_view canonical, const Shapes& shapes) {
  const auto& sizes = shapes.sizes;
  if (sort == "gemm") {
    const std::size_t first =
        canonical.starts_with("add") || canonical.starts_with("badd") || canonical == "_addmm_activation" ? 1 : 0;
    if (canonical == "linear" || sizes.size() < first + 2) return 0;
    return product_key(sizes[first], sizes[first + 1]);
  }
  const std::size_t operands = sort == "convolution" ? 2 : 3;  // grad, input, weight of a backward; query, key, value
  if (shapes.tensors.size() < operands) return 0;
  std::uint64_t key = operands;
  for (std::size_t i = 0; i < operands; ++i) key = combine(key, shapes.tensors[i].dims);
  return key;
}

}  // namespace ridge::diff
