// One row per op. Dimensions may be counted from the end.
#include "ops/views.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "ops/operands.h"

namespace ridge {
namespace {

using Sizes = std::vector<std::int64_t>;
using Shapes = std::vector<Sizes>;

constexpr std::size_t kMostParts = 64;  // that a tensor is split into; more are not looked at

// The dimension that an argument names, of `count` of them.
std::optional<std::size_t> dimension(const OpCall& call, std::size_t at, std::size_t count, double otherwise) {
  double dim = number_at(call, at).value_or(otherwise);
  if (dim < 0) dim += static_cast<double>(count);
  if (dim < 0 || dim >= static_cast<double>(count)) return std::nullopt;
  return static_cast<std::size_t>(dim);
}

Shapes same(const OpCall&, const Sizes& sizes) { return {sizes}; }

std::int64_t product(const Sizes& sizes) {
  std::int64_t out = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(out, size, &out)) return 0;
  }
  return out;
}

// aten::view(x, size): -1 is what is left.
Shapes reshaped(const OpCall& call, const Sizes& sizes) {
  auto to = integers_at(call, 1);
  if (!to || to->empty()) return {};
  if (const auto open = std::ranges::find(*to, -1); open != to->end()) {
    *open = 1;
    const std::int64_t rest = product(*to);
    if (rest <= 0) return {};
    *open = product(sizes) / rest;
  }
  return {*to};
}

// aten::expand(x, size): -1 keeps a dimension; new ones stand in front.
Shapes expanded(const OpCall& call, const Sizes& sizes) {
  auto to = integers_at(call, 1);
  if (!to || to->size() < sizes.size()) return {};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t& size = (*to)[to->size() - sizes.size() + i];
    if (size == -1) size = sizes[i];
  }
  return {*to};
}

Shapes turned(const OpCall&, const Sizes& sizes) { return {Sizes(sizes.rbegin(), sizes.rend())}; }

Shapes transposed(const OpCall& call, const Sizes& sizes) {
  const auto a = dimension(call, 1, sizes.size(), 0), b = dimension(call, 2, sizes.size(), 1);
  if (!a || !b) return {};
  Sizes out = sizes;
  std::swap(out[*a], out[*b]);
  return {out};
}

Shapes permuted(const OpCall& call, const Sizes& sizes) {
  const auto order = integers_at(call, 1);
  if (!order || order->size() != sizes.size()) return {};
  Sizes out;
  for (std::int64_t dim : *order) {
    if (dim < 0) dim += static_cast<std::int64_t>(sizes.size());
    if (dim < 0 || dim >= static_cast<std::int64_t>(sizes.size())) return {};
    out.push_back(sizes[static_cast<std::size_t>(dim)]);
  }
  return {out};
}

Shapes selected(const OpCall& call, const Sizes& sizes) {
  const auto dim = dimension(call, 1, sizes.size(), 0);
  if (!dim) return {};
  Sizes out = sizes;
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(*dim));
  return {out};
}

// aten::slice(x, dim, start, end, step)
Shapes sliced(const OpCall& call, const Sizes& sizes) {
  const auto dim = dimension(call, 1, sizes.size(), 0);
  if (!dim) return {};
  const auto whole = static_cast<double>(sizes[*dim]);
  const auto place = [&](std::size_t at, double otherwise) {
    const double given = number_at(call, at).value_or(otherwise);
    return std::clamp(given < 0 ? given + whole : given, 0.0, whole);
  };
  const double from = place(2, 0), to = place(3, whole), step = std::max(1.0, number_at(call, 4).value_or(1));
  Sizes out = sizes;
  const double count = std::ceil(std::max(0.0, to - from) / step);
  if (count < whole) out[*dim] = static_cast<std::int64_t>(count);
  return {out};
}

Shapes unsqueezed(const OpCall& call, const Sizes& sizes) {
  const auto dim = dimension(call, 1, sizes.size() + 1, 0);
  if (!dim) return {};
  Sizes out = sizes;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*dim), 1);
  return {out};
}

Shapes squeezed(const OpCall& call, const Sizes& sizes) {
  if (number_at(call, 1)) {
    const auto dim = dimension(call, 1, sizes.size(), 0);
    return dim && sizes[*dim] == 1 ? selected(call, sizes) : same(call, sizes);
  }
  Sizes out;
  std::ranges::copy_if(sizes, std::back_inserter(out), [](std::int64_t size) { return size != 1; });
  return {out};
}

Shapes parted(const Sizes& sizes, std::size_t dim, const Sizes& lengths) {
  Shapes out;
  for (const std::int64_t length : lengths) {
    out.push_back(sizes);
    out.back()[dim] = length;
  }
  return out;
}

// aten::split(x, size, dim), aten::split_with_sizes(x, sizes, dim)
Shapes split(const OpCall& call, const Sizes& sizes) {
  const auto dim = dimension(call, 2, sizes.size(), 0);
  const auto each = integers_at(call, 1);
  if (!dim || !each || each->size() != 1 || each->front() <= 0) return {};
  Sizes lengths;
  for (std::int64_t left = sizes[*dim]; left > 0 && lengths.size() < kMostParts; left -= each->front())
    lengths.push_back(std::min(left, each->front()));
  return parted(sizes, *dim, lengths);
}
Shapes split_with_sizes(const OpCall& call, const Sizes& sizes) {
  const auto dim = dimension(call, 2, sizes.size(), 0);
  auto lengths = integers_at(call, 1);
  if (!dim || !lengths) return {};
  lengths->resize(std::min(lengths->size(), kMostParts));
  return parted(sizes, *dim, *lengths);
}

Shapes unbound(const OpCall& call, const Sizes& sizes) {
  const auto dim = dimension(call, 1, sizes.size(), 0);
  if (!dim) return {};
  Sizes one = sizes;
  one.erase(one.begin() + static_cast<std::ptrdiff_t>(*dim));
  return Shapes(std::min(kMostParts, static_cast<std::size_t>(std::max<std::int64_t>(0, sizes[*dim]))), one);
}

struct View {
  std::string_view op;
  Shapes (*shapes)(const OpCall& call, const Sizes& sizes);
};

constexpr View kViews[] = {
    {"aten::view", reshaped},
    {"aten::_unsafe_view", reshaped},
    {"aten::_reshape_alias", reshaped},
    {"aten::expand", expanded},
    {"aten::t", turned},
    {"aten::transpose", transposed},
    {"aten::permute", permuted},
    {"aten::select", selected},
    {"aten::slice", sliced},
    {"aten::unsqueeze", unsqueezed},
    {"aten::squeeze", squeezed},
    {"aten::split", split},
    {"aten::split_with_sizes", split_with_sizes},
    {"aten::unbind", unbound},
    {"aten::as_strided", reshaped},
    {"aten::alias", same},
    {"aten::detach", same},
    {"aten::diagonal", same},
    {"aten::unfold", same},
    {"aten::view_as_real", same},
    {"aten::view_as_complex", same},
};

const View* view_of(std::string_view op) {
  const auto* row = std::ranges::find(kViews, op, &View::op);
  return row == std::end(kViews) ? nullptr : row;
}

}  // namespace

bool is_view(std::string_view op) { return view_of(op) != nullptr; }

std::vector<TensorShape> viewed(const OpCall& call) {
  const View* view = view_of(call.op);
  const TensorShape* tensor = tensor_at(call, 0);
  if (view == nullptr || tensor == nullptr) return {};
  Shapes shapes = view->shapes(call, tensor->sizes);
  if (shapes.empty()) shapes = {tensor->sizes};
  std::vector<TensorShape> out;
  for (Sizes& sizes : shapes) out.push_back({.sizes = std::move(sizes), .strides = {}, .dtype = tensor->dtype});
  return out;
}

}  // namespace ridge
