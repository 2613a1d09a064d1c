// Moving and making data: copies and casts read their source, fills and random numbers read nothing, cat reads its list.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

// (destination, source, ..)
OpWork copy_in_place(const OpCall& c, const Part&, double cache) {
  const TensorShape* to = tensor_at(c, 0);
  const TensorShape* from = tensor_at(c, 1);
  if (to == nullptr || from == nullptr) return {.flops = 0};
  if (from->dtype == DType::unknown) return moves({}, touched(to), from->dtype);
  return moves(walked_bytes(*from, *to, cache), touched(to), from->dtype);
}

// (x, ..): a dense copy.
OpWork copy(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  return moves(touched(x), dense_bytes(x), x->dtype);
}

// Writes its first tensor, reads nothing.
OpWork fill(const OpCall& c, const Part&) {
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (const TensorShape* x = tensor_at(c, i)) return moves(0, touched(x), x->dtype);
  }
  return moves(0, {}, DType::unknown);
}

// (x, p, ..): p may be a tensor of probabilities.
OpWork bernoulli(const OpCall& c, const Part& p) {
  OpWork work = fill(c, p);
  const TensorShape* probabilities = tensor_at(c, 1);
  if (probabilities != nullptr && !is_scalar(*probabilities)) work.read = touched(probabilities);
  return work;
}

// A check of one value.
OpWork nothing(const OpCall&, const Part&) { return moves(0, 0, DType::unknown); }

// (start, end, step, out): the result's size is recorded before it is known.
OpWork arange(const OpCall& c, const Part&) {
  const auto start = number_at(c, 0), end = number_at(c, 1), step = number_at(c, 2);
  const TensorShape* out = tensor_at(c, 3);
  if (!start || !end || !step || *step == 0 || out == nullptr) return moves(0, {}, DType::unknown);
  return moves(0, std::max(0.0, std::ceil((*end - *start) / *step)) * item_bytes(out->dtype), out->dtype);
}

// What a tensor gives to each row of the result does not fill whole sectors, and its neighbour's part is written at another
// time.
double shared_sectors(const TensorShape& t, std::size_t dim, double item) {
  double rows = 1, part = item;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) (i < dim ? rows : part) *= static_cast<double>(t.sizes[i]);
  return rows > 1 && std::fmod(part, kWrittenSector) != 0 ? rows * std::min(part, kWrittenSector) : 0;
}

// (list, dim): the element's size is in the kernel's name; `first` and `count` say which tensors this launch takes.
OpWork cat(const OpCall& c, const Part& part, double cache) {
  const CatPart p = part.as<CatPart>();
  const OpArgument* list = nullptr;
  for (const OpArgument& a : c.arguments) {
    if (a.kind == OpArgument::Kind::tensor_list && list == nullptr) list = &a;
  }
  if (list == nullptr || list->list.empty()) return {.flops = 0, .dtype = p.item};
  const auto size = static_cast<std::int64_t>(list->list.size());
  const std::int64_t first = std::clamp<std::int64_t>(p.first, 0, size);
  const std::int64_t last = p.count < 0 ? size : std::min(size, first + p.count);
  if (p.item == DType::unknown || first >= last) return {.flops = 0};
  double read = 0, written = 0, shared = 0;
  const double dim = number_at(c, static_cast<std::size_t>(list - c.arguments.data()) + 1).value_or(0);
  for (std::int64_t i = first; i < last; ++i) {
    TensorShape t = list->list[static_cast<std::size_t>(i)];
    t.dtype = p.item;
    read += touched_bytes(t);
    written += numel(t) * item_bytes(p.item);
    const double from_front = dim < 0 ? dim + static_cast<double>(t.sizes.size()) : dim;
    if (from_front > 0 && size > 1) shared += shared_sectors(t, static_cast<std::size_t>(from_front), item_bytes(p.item));
  }
  return moves(read + completed_bytes(shared, cache), written, p.item);
}

// (x, diagonal): only the kept half is read, the diagonal with it. The other is written as zeros.
OpWork triangle(const OpCall& c, bool lower) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr || x->sizes.size() < 2) return {.flops = 0};
  const double rows = static_cast<double>(x->sizes[x->sizes.size() - 2]), columns = static_cast<double>(x->sizes.back());
  if (rows <= 0 || columns <= 0) return moves(0, 0, x->dtype);
  // Columns up to row + diagonal, summed over the rows: a trapezium between two clamped ends.
  // The upper half is what the columns up to the diagonal before leave.
  const double diagonal = std::clamp(number_at(c, 1).value_or(0) - (lower ? 0 : 1), -rows, columns);
  const double full_from = std::clamp(columns - 1 - diagonal, 0.0, rows), none_to = std::clamp(-diagonal, 0.0, rows);
  const double ramp = std::max(full_from - none_to, 0.0);
  const double kept_below =
      ramp * (none_to + full_from + 1 + 2 * diagonal) / 2 + (rows - std::max(full_from, none_to)) * columns;
  const double share = std::clamp(kept_below / (rows * columns), 0.0, 1.0);
  const auto read = times(touched(x), lower ? share : 1 - share);
  return moves(read ? std::optional(std::round(*read)) : read, dense_bytes(x), x->dtype);
}
OpWork tril(const OpCall& c, const Part&) { return triangle(c, true); }
OpWork triu(const OpCall& c, const Part&) { return triangle(c, false); }

constexpr OpFamily kFamily = OpFamily::copy;
constexpr OpFormula kRows[] = {
    {"aten::copy_", kFamily, copy_in_place},
    {"aten::copy", kFamily, copy_in_place},
    {"aten::clone", kFamily, copy, "copy"},
    {"aten::contiguous", kFamily, copy, "copy"},
    {"aten::_to_copy", kFamily, copy, "copy"},
    {"aten::roll", kFamily, copy},
    {"aten::flip", kFamily, copy},
    {"aten::rot90", kFamily, copy},
    {"aten::channel_shuffle", kFamily, copy},
    {"aten::native_channel_shuffle", kFamily, copy},
    {"aten::cat", kFamily, cat},
    {"aten::_cat", kFamily, cat},
    {"aten::concat", kFamily, cat},
    {"aten::stack", kFamily, cat},
    {"aten::tril", kFamily, tril},
    {"aten::triu", kFamily, triu},
    {"aten::fill_", kFamily, fill},
    {"aten::zero_", kFamily, fill, "fill"},
    {"aten::zeros", kFamily, fill, "fill"},
    {"aten::ones", kFamily, fill, "fill"},
    {"aten::full", kFamily, fill, "fill"},
    {"aten::eye", kFamily, fill},
    {"aten::linspace", kFamily, fill},
    {"aten::arange", kFamily, arange},
    {"aten::range", kFamily, arange},
    {"aten::random_", kFamily, fill},
    {"aten::normal_", kFamily, fill},
    {"aten::uniform_", kFamily, fill},
    {"aten::exponential_", kFamily, fill},
    {"aten::geometric_", kFamily, fill},
    {"aten::cauchy_", kFamily, fill},
    {"aten::log_normal_", kFamily, fill},
    {"aten::bernoulli_", kFamily, bernoulli, "dropout"},
    {"aten::_assert_async", kFamily, nothing},
    {"aten::_local_scalar_dense", kFamily, nothing},
    {"aten::randn", kFamily, fill},
    {"aten::rand", kFamily, fill},
    {"aten::randint", kFamily, fill},
    {"aten::tril_indices", kFamily, fill},
    {"aten::triu_indices", kFamily, fill},
};

}  // namespace

std::span<const OpFormula> copy_ops() { return kRows; }

}  // namespace ridge
