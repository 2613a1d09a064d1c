// Layer, RMS, group, batch and instance norms. Every pass over the activations reads them once (a row or channel stays in the
// cache); statistics and parameters are vectors. Backward passes read the gradient and the input.
#include <algorithm>

#include "ops/operands.h"

namespace ridge {
namespace {

// The tensors beside the activations: parameters, statistics, running averages.
double vectors(const OpCall& call, std::size_t from) {
  double bytes = 0;
  const TensorShape* x = tensor_at(call, 0);
  const double whole = x == nullptr ? 0 : numel(*x);
  for (std::size_t i = from; i < call.arguments.size(); ++i) {
    const TensorShape* t = tensor_at(call, i);
    if (t != nullptr && numel(*t) < whole) bytes += touched_bytes(*t);
  }
  return bytes;
}

// The share of the activations that is not in the cache when the second pass, which writes as well, comes: by what the channels
// in work take. Counters of an H200 (50 MB), half of what is written counted in: 0.06 to 0.10 of 42 MB, 0.84 of 58 MB, 0.9 to 1
// from 64 MB on.
double lost_between_passes(double read, double written, double share_in_work, double cache) {
  const double t = std::clamp(((read + written / 2) * share_in_work / cache - 38e6) / 26e6, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// `activations`: how many of the first tensors are as large as the input.
OpWork norm(const OpCall& call, const Part& part, double cache, std::size_t activations) {
  const NormPart own = part.as<NormPart>();
  const TensorShape* x = tensor_at(call, activations - 1);
  if (x == nullptr) return {.flops = 0};
  const double small = vectors(call, activations);
  std::optional<double> read = small;
  for (std::size_t i = 0; i < activations; ++i) read = plus(read, dense_bytes(tensor_at(call, i)));
  switch (part.role) {
    case KernelRole::initialise: return moves(0, 0, x->dtype);
    case KernelRole::fill: return moves(0, small, x->dtype);
    case KernelRole::parameters: return moves(small, small, x->dtype);
    case KernelRole::statistics:
    case KernelRole::grad_weight: return moves(read, small, x->dtype);
    case KernelRole::apply_twice: {
      // A pass for the statistics and one for the result, every channel at its own block.
      const double again = read ? lost_between_passes(*read, dense_bytes(x).value_or(0), own.share_in_work, cache) : 0;
      return moves(times(read, 1 + again), plus(dense_bytes(x), small), x->dtype);
    }
    case KernelRole::apply_kept: {
      const double again = std::max(0.0, read.value_or(0) - own.kept_bytes);
      return moves(plus(read, again), plus(dense_bytes(x), small), x->dtype);
    }
    default: return moves(read, plus(dense_bytes(x), small), x->dtype);
  }
}

// (x, normalized_shape, weight, ..): elements of a row. Nothing where neither the shape nor a weight tells.
std::optional<double> row_length(const OpCall& c) {
  if (const auto shape = integers_at(c, 1); shape && !shape->empty()) {
    double length = 1;
    for (const std::int64_t size : *shape) length *= static_cast<double>(size);
    return length;
  }
  const TensorShape* weight = tensor_at(c, 2);
  return weight != nullptr ? std::optional(numel(*weight)) : std::nullopt;
}

// Besides the result `statistics` values of each row, in the type of sums. Of rows of unknown length none are counted.
template <int statistics>
OpWork forward_by_rows(const OpCall& c, const Part& p, double cache) {
  OpWork work = norm(c, p, cache, 1);
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return work;
  const auto length = row_length(c);
  work.ambiguous = work.ambiguous || !length;
  const double rows = length && *length > 0 ? numel(*x) / *length : 0;
  const double of_rows = statistics * rows * std::max(item_bytes(x->dtype), 4.0);
  if (p.role == KernelRole::statistics) work.written = length ? std::optional(of_rows) : std::nullopt;
  if (p.role == KernelRole::main) work.written = plus(dense_bytes(x), of_rows);
  if (p.role == KernelRole::apply) {  // another kernel made them
    work.read = plus(work.read, of_rows);
    work.written = dense_bytes(x);
  }
  return work;
}

OpWork forward(const OpCall& c, const Part& p, double cache) { return norm(c, p, cache, 1); }
OpWork backward(const OpCall& c, const Part& p, double cache) { return norm(c, p, cache, 2); }

// (v, g, dim) and its backward (grad, v, g, norms, dim): all are read.
OpWork weight_norm(const OpCall& c, const Part& p) {
  const TensorShape* v = tensor_at(c, 0);
  if (v == nullptr) return {.flops = 0};
  if (p.role == KernelRole::initialise) return moves(0, 0, v->dtype);
  double read = 0;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) read += touched_or_zero(tensor_at(c, i));
  return moves(read, dense_bytes(v), v->dtype);
}

constexpr OpFamily kFamily = OpFamily::norm;
constexpr OpFormula kRows[] = {
    {"aten::native_layer_norm", kFamily, forward_by_rows<2>, "layer_norm"},
    {"aten::layer_norm", kFamily, forward_by_rows<2>},
    {"aten::_fused_rms_norm", kFamily, forward_by_rows<1>, "rms_norm"},
    {"aten::rms_norm", kFamily, forward_by_rows<1>},
    {"aten::native_group_norm", kFamily, forward, "group_norm"},
    {"aten::group_norm", kFamily, forward},
    {"aten::native_batch_norm", kFamily, forward, "batch_norm"},
    {"aten::_native_batch_norm_legit", kFamily, forward, "batch_norm"},
    {"aten::_native_batch_norm_legit_no_training", kFamily, forward, "batch_norm"},
    {"aten::_batch_norm_with_update", kFamily, forward, "batch_norm"},
    {"aten::_batch_norm_no_update", kFamily, forward, "batch_norm"},
    {"aten::batch_norm_stats", kFamily, forward},
    {"aten::batch_norm_elemt", kFamily, forward},
    {"aten::batch_norm_update_stats", kFamily, forward},
    {"aten::cudnn_batch_norm", kFamily, forward, "batch_norm"},
    {"aten::miopen_batch_norm", kFamily, forward, "batch_norm"},
    {"aten::native_layer_norm_backward", kFamily, backward, "layer_norm_backward"},
    {"aten::_fused_rms_norm_backward", kFamily, backward, "rms_norm_backward"},
    {"aten::native_group_norm_backward", kFamily, backward, "group_norm_backward"},
    {"aten::native_batch_norm_backward", kFamily, backward, "batch_norm_backward"},
    {"aten::batch_norm_backward", kFamily, backward},
    {"aten::batch_norm_backward_reduce", kFamily, backward},
    {"aten::batch_norm_backward_elemt", kFamily, backward},
    {"aten::cudnn_batch_norm_backward", kFamily, backward, "batch_norm_backward"},
    {"aten::miopen_batch_norm_backward", kFamily, backward, "batch_norm_backward"},
    {"aten::_weight_norm_interface", kFamily, weight_norm},
    {"aten::_weight_norm_interface_backward", kFamily, weight_norm},
};

}  // namespace

std::span<const OpFormula> norm_ops() { return kRows; }

}  // namespace ridge
