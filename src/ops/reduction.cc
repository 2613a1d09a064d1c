// Reductions, softmax and scans: the input once, however many passes the code makes over it; the reduced shape written.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

// Elements left when the dimensions of argument `dims_at` are reduced; 1 when none is told: then all are.
double kept_elements(const OpCall& call, const TensorShape& x, std::size_t dims_at) {
  const auto dims = integers_at(call, dims_at);
  if (!dims || dims->empty()) return 1;
  double kept = numel(x);
  const auto rank = static_cast<std::int64_t>(x.sizes.size());
  for (std::int64_t d : *dims) {
    if (d < 0) d += rank;
    if (d >= 0 && d < rank && x.sizes[static_cast<std::size_t>(d)] > 0)
      kept /= static_cast<double>(x.sizes[static_cast<std::size_t>(d)]);
  }
  return std::max(kept, 1.0);
}

OpWork reduce(const OpCall& call, const Part& part, std::size_t dims_at, double out_item, std::size_t input = 0) {
  const TensorShape* x = tensor_at(call, input);
  if (x == nullptr) return {.flops = 0};
  if (part.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  const bool dims_unknown = !call.has_constants && dims_at < call.arguments.size() && !x->sizes.empty();
  const double item = out_item > 0 ? out_item : item_bytes(x->dtype);
  const double kept = kept_elements(call, *x, dims_at) * item;
  if (part.role == KernelRole::parameters) return moves(kept, kept, x->dtype);
  // Sums of booleans are sums of a copy as integers: the kernel tells what it reads.
  const double own = item_bytes(part.as<ReductionPart>().item);
  const bool converted = own > 0 && own != item_bytes(x->dtype);
  OpWork work = moves(converted ? std::optional(numel(*x) * own) : touched(x), kept, x->dtype);
  work.ambiguous = dims_unknown;
  return work;
}

OpWork over_dims(const OpCall& c, const Part& p) { return reduce(c, p, 1, 0); }
OpWork two_over_dims(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 0);
  return reduce(c, p, 1, x != nullptr ? 2 * item_bytes(x->dtype) : 0);
}

// Sums of integers are int64 unless another type is asked for.
double summed_item(const OpCall& c, const TensorShape* x, std::size_t dtype_at) {
  if (x == nullptr || x->dtype == DType::unknown) return 0;
  return item_bytes(scalar_type(c, dtype_at, is_floating(x->dtype) ? x->dtype : DType::i64));
}
// (x, dims, keepdim, dtype), or (x, dtype) where all is summed.
OpWork sum(const OpCall& c, const Part& p) {
  constexpr std::size_t kNoDims = static_cast<std::size_t>(-1);
  const bool of_all = c.arguments.size() < 4 && (c.arguments.size() < 2 || !c.arguments[1].value.starts_with('['));
  return reduce(c, p, of_all ? kNoDims : 1, summed_item(c, tensor_at(c, 0), of_all ? 1 : 3));
}
OpWork to_bool(const OpCall& c, const Part& p) { return reduce(c, p, 1, 1); }
OpWork to_index(const OpCall& c, const Part& p) { return reduce(c, p, 1, 8); }
OpWork value_and_index(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 0);
  return reduce(c, p, 1, x != nullptr && integers_at(c, 1) ? item_bytes(x->dtype) + 8 : 0);
}
// (x, order, dims, ..): a real value, of complex numbers too.
OpWork norm(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 0);
  return reduce(c, p, 2, x != nullptr ? item_bytes(real_of(x->dtype)) : 0);
}
// The only tensor; of several the first, which is a guess. A list may hold what the kernel takes.
OpWork general(const OpCall& c, const Part& p) {
  if (has_list(c)) return {.flops = 0};
  std::size_t input = 0;
  while (input < c.arguments.size() && tensor_at(c, input) == nullptr) ++input;
  OpWork work = reduce(c, p, input + 1, 0, input);
  for (std::size_t i = input + 1; i < c.arguments.size(); ++i) work.ambiguous |= tensor_at(c, i) != nullptr;
  return work;
}

// What a scan or a softmax goes over: an old form of cumsum lists the result first.
const TensorShape* scanned(const OpCall& c) {
  std::size_t input = 0;
  while (input < c.arguments.size() && tensor_at(c, input) == nullptr) ++input;
  return tensor_at(c, input);
}

// (x, dim, ..): as many elements written as read.
OpWork like_input(const OpCall& c, const Part& p) {
  const TensorShape* x = scanned(c);
  if (x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  return moves(touched(x), dense_bytes(x), x->dtype);
}

// (x, dim, dtype): sums of another type than x are those of a copy of that type.
OpWork running_sum(const OpCall& c, const Part& p) {
  OpWork work = like_input(c, p);
  const TensorShape* x = tensor_at(c, 0);
  const double item = in_place(c) ? 0 : summed_item(c, x, 2);
  if (item > 0 && item != item_bytes(x->dtype) && p.role != KernelRole::initialise) work.read = work.written = numel(*x) * item;
  return work;
}

// (x, dim): the largest so far and where it stands, an int64.
OpWork running_extreme(const OpCall& c, const Part& p) {
  OpWork work = like_input(c, p);
  if (work.written && p.role != KernelRole::initialise) *work.written += numel(*scanned(c)) * item_bytes(DType::i64);
  return work;
}

// The share of its rows that a kernel does not find in the cache when it passes over them again, where so many are worked on at
// a time: none while they take less than `fits`, all from `lost` on. Counters of an H200 (50 MB).
constexpr double kOutOfStep = 0.83;
double lost_rows(const OpCall& c, std::size_t dim_at, const TensorShape& x, double rows_in_flight, double cache, double fits,
                 double lost) {
  if (x.sizes.empty() || rows_in_flight <= 0) return 0;
  const double rank = static_cast<double>(x.sizes.size());
  double dim = number_at(c, dim_at).value_or(-1);
  if (dim < 0) dim += rank;
  const double length = dim >= 0 && dim < rank ? static_cast<double>(x.sizes[static_cast<std::size_t>(dim)]) : 0;
  // Rows that do not start at 16 bytes have ends of their own to do: blocks fall out of step, and fewer are at the same place.
  const double row = length * item_bytes(x.dtype), in_step = std::fmod(row, 16) == 0 ? 1 : kOutOfStep;
  const double in_work = in_step * rows_in_flight * row / cache;
  return std::clamp((in_work - fits) / (lost - fits), 0.0, 1.0);
}

// (x, dim, half_to_float): the largest, the sum, the result.
OpWork softmax(const OpCall& c, const Part& p, double cache) {
  const double in_flight = p.as<SoftmaxPart>().rows_in_flight;
  OpWork work = like_input(c, p);
  const TensorShape* x = tensor_at(c, 0);
  const double lost = x == nullptr ? 0 : lost_rows(c, 1, *x, in_flight, cache, 20e6, 55e6);
  work.read = times(work.read, 1 + 2 * lost);
  work.ambiguous = work.ambiguous || lost > 0;
  if (x != nullptr && flag_at(c, 2)) work.written = numel(*x) * item_bytes(DType::f32);
  return work;
}
// (grad, output, dim, input_dtype): the sum of the gradient, then both.
OpWork softmax_backward(const OpCall& c, const Part& p, double cache) {
  const TensorShape* grad = tensor_at(c, 0);
  const TensorShape* out = tensor_at(c, 1);
  if (grad == nullptr || out == nullptr) return {.flops = 0};
  const DType written = scalar_type(c, 3, out->dtype);
  // Expanded gradients are made dense first.
  const double lost = lost_rows(c, 2, *grad, p.as<SoftmaxPart>().rows_in_flight, cache, 25e6, 85e6);
  OpWork work =
      moves(plus(times(dense_bytes(grad), 1 + lost), dense_bytes(out)), numel(*out) * item_bytes(written), grad->dtype);
  work.ambiguous = lost > 0;
  return work;
}

constexpr OpFamily kReduction = OpFamily::reduction;
constexpr OpFamily kSoftmax = OpFamily::softmax;
constexpr OpFormula kRows[] = {
    {"aten::sum", kReduction, sum},
    {"aten::nansum", kReduction, sum},
    {"aten::mean", kReduction, sum},
    {"aten::prod", kReduction, sum},
    {"aten::amax", kReduction, over_dims},
    {"aten::amin", kReduction, over_dims},
    {"aten::aminmax", kReduction, two_over_dims},
    {"aten::var", kReduction, over_dims},
    {"aten::std", kReduction, over_dims},
    {"aten::var_mean", kReduction, two_over_dims},
    {"aten::std_mean", kReduction, two_over_dims},
    {"aten::logsumexp", kReduction, over_dims},
    {"aten::max", kReduction, value_and_index},
    {"aten::min", kReduction, value_and_index},
    {"aten::argmax", kReduction, to_index},
    {"aten::argmin", kReduction, to_index},
    {"aten::any", kReduction, to_bool},
    {"aten::all", kReduction, to_bool},
    {"aten::count_nonzero", kReduction, to_index},
    {"aten::norm", kReduction, norm},
    {"aten::linalg_vector_norm", kReduction, norm, "norm"},
    {"aten::_softmax", kSoftmax, softmax, "softmax"},
    {"aten::_log_softmax", kSoftmax, softmax, "log_softmax"},
    {"aten::_safe_softmax", kSoftmax, softmax, "softmax"},
    {"aten::_masked_softmax", kSoftmax, softmax},
    {"aten::_softmax_backward_data", kSoftmax, softmax_backward, "softmax_backward"},
    {"aten::_log_softmax_backward_data", kSoftmax, softmax_backward, "log_softmax_backward"},
    {"aten::_masked_softmax_backward", kSoftmax, softmax_backward},
    {"aten::cumsum", kReduction, running_sum},
    {"aten::cumprod", kReduction, running_sum},
    {"aten::_cumsum", kReduction, running_sum},
    {"aten::_cumprod", kReduction, running_sum},
    {"aten::logcumsumexp", kReduction, like_input},
    {"aten::_logcumsumexp", kReduction, like_input},
    {"aten::cummax", kReduction, running_extreme},
    {"aten::cummin", kReduction, running_extreme},
};
constexpr OpFormula kGeneral{"", kReduction, general};

}  // namespace

std::span<const OpFormula> reduction_ops() { return kRows; }

const OpFormula& general_reduction() { return kGeneral; }

}  // namespace ridge
