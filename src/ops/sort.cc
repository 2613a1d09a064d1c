// Sorting, selecting the k largest, finding what is not zero, Fourier transforms: each pass over the keys (and their int64
// positions) once.
#include <algorithm>

#include "ops/operands.h"

namespace ridge {
namespace {

const TensorShape* first_tensor(const OpCall& c) {
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (const TensorShape* t = tensor_at(c, i)) return t;
  }
  return nullptr;
}

// A pass of a sort: keys and positions read and written.
OpWork sort(const OpCall& c, const Part& p) {
  const TensorShape* x = first_tensor(c);
  if (x == nullptr) return {.flops = 0};
  const double both = numel(*x) * (item_bytes(x->dtype) + item_bytes(DType::i64));
  switch (p.role) {
    case KernelRole::initialise: return moves(0, 0, x->dtype);
    case KernelRole::fill: return moves(0, numel(*x) * item_bytes(DType::i64), x->dtype);
    case KernelRole::statistics: return moves(touched(x), 0, x->dtype);
    default: break;
  }
  OpWork work = moves(both, both, x->dtype);
  work.ambiguous = true;
  return work;
}

// A value and its int64 position for each row along the dimension of argument `dim_at`: the last one where it is not told.
double of_rows(const OpCall& c, const TensorShape& x, std::size_t dim_at) {
  const double rank = static_cast<double>(x.sizes.size());
  double dim = number_at(c, dim_at).value_or(-1);
  if (dim < 0) dim += rank;
  const double length = dim >= 0 && dim < rank ? static_cast<double>(x.sizes[static_cast<std::size_t>(dim)]) : 1;
  return length > 0 ? numel(x) / length * (item_bytes(x.dtype) + item_bytes(DType::i64)) : 0;
}

// (x, k, dim, ..): x is read by the selection; what follows works on k of each row.
OpWork topk(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr || x->sizes.empty()) return {.flops = 0};
  if (p.role == KernelRole::initialise || p.role == KernelRole::fill) return moves(0, 0, x->dtype);
  if (p.role == KernelRole::combine) return moves(p.as<SelectionPart>().partial_bytes, 0, x->dtype);
  const auto k = number_at(c, 1);
  const auto kept = k ? std::optional(of_rows(c, *x, 2) * std::max(*k, 0.0)) : std::nullopt;
  const bool of_kept = p.role == KernelRole::parameters || p.role == KernelRole::index_helper;
  OpWork work = moves(of_kept ? kept : touched(x), kept, x->dtype);
  work.ambiguous = !k;
  return work;
}

// One of each row; `dim_at`: the dimension's argument.
OpWork one_of_each_row(const OpCall& c, const Part& p, std::size_t dim_at) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  return moves(touched(x), of_rows(c, *x, dim_at), x->dtype);
}
OpWork kthvalue(const OpCall& c, const Part& p) { return one_of_each_row(c, p, 2); }

// (x): read by each of its passes; how much is written depends on the values.
OpWork select(const OpCall& c, const Part& p) {
  const TensorShape* x = first_tensor(c);
  if (x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  return {.flops = 0, .read = touched(x), .dtype = x->dtype, .ambiguous = true};
}

// (x, dim, ..), or (x), which sorts a copy.
OpWork median(const OpCall& c, const Part& p) { return number_at(c, 1) ? one_of_each_row(c, p, 1) : select(c, p); }

// (x, dims, ..): a Fourier transform. Half of the complex values of a real tensor take as much room as it: each pass moves that
// once.
OpWork transform(const OpCall& c, const Part&) {
  const TensorShape* x = first_tensor(c);
  if (x == nullptr) return {.flops = 0};
  return moves(dense_bytes(x), dense_bytes(x), x->dtype);
}

// (sorted, values, out_int32, ..) or (values, bounds, out_int32, ..): both are read, a position written for each value.
OpWork search(const OpCall& c, std::size_t values_at) {
  const TensorShape* sorted = tensor_at(c, 1 - values_at);
  const TensorShape* values = tensor_at(c, values_at);
  if (sorted == nullptr || values == nullptr) return {.flops = 0};
  const double position = item_bytes(flag_at(c, 2) ? DType::i32 : DType::i64);
  return moves(touched_bytes(*sorted) + touched_bytes(*values), numel(*values) * position, values->dtype);
}
OpWork searchsorted(const OpCall& c, const Part&) { return search(c, 1); }
OpWork bucketize(const OpCall& c, const Part&) { return search(c, 0); }

constexpr OpFamily kFamily = OpFamily::sort;
constexpr OpFormula kRows[] = {
    {"aten::sort", kFamily, sort},
    {"aten::argsort", kFamily, sort},
    {"aten::msort", kFamily, sort},
    {"aten::topk", kFamily, topk},
    {"aten::kthvalue", kFamily, kthvalue},
    {"aten::median", kFamily, median},
    {"aten::nanmedian", kFamily, median},
    {"aten::nonzero", kFamily, select},
    {"aten::unique_dim", kFamily, select},
    {"aten::_unique2", kFamily, select},
    {"aten::unique_consecutive", kFamily, select},
    {"aten::bincount", kFamily, select},
    {"aten::histc", kFamily, select},
    {"aten::multinomial", kFamily, select},
    {"aten::searchsorted", kFamily, searchsorted},
    {"aten::bucketize", kFamily, bucketize},
    {"aten::_fft_r2c", kFamily, transform},
    {"aten::_fft_c2r", kFamily, transform},
    {"aten::_fft_c2c", kFamily, transform},
};

}  // namespace

std::span<const OpFormula> sort_ops() { return kRows; }

}  // namespace ridge
