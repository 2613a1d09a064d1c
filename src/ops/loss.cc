// Losses that pick one element of each row. Those that compare two tensors are pointwise and a reduction.
#include <algorithm>

#include "ops/operands.h"

namespace ridge {
namespace {

constexpr double kSector = 64;  // what one access brings from memory

// (x [rows, classes], target, weight, reduction, ..): the chosen element of each row costs one access.
// The mean is a kernel of its own, which divides a sum by a count. Whether the rows are added up the kernel's name tells, else
// the reduction; where neither does, they are, as by default.
OpWork nll_forward(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 0);
  const TensorShape* target = tensor_at(c, 1);
  if (x == nullptr || target == nullptr) return {.flops = 0};
  if (p.role == KernelRole::combine) return moves(2 * item_bytes(x->dtype), item_bytes(x->dtype), x->dtype);
  const double rows = numel(*target);
  const double picked = std::min(rows * kSector, numel(*x) * item_bytes(x->dtype));
  constexpr double kNotReduced = 0;  // of at::Reduction; the mean and the sum have a value and the sum of the weights
  const auto reduction = number_at(c, 3);
  const std::optional<bool> sums = p.as<LossPart>().sums;
  const double results = sums.value_or(reduction != kNotReduced) ? 2 : rows;
  OpWork work =
      moves(picked + touched_bytes(*target) + touched_or_zero(tensor_at(c, 2)), results * item_bytes(x->dtype), x->dtype);
  work.ambiguous = !sums && !reduction;
  return work;
}

// (grad, x, target, weight, ..): writes one element of each row; the zeros are a kernel of their own.
OpWork nll_backward(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 1);
  const TensorShape* target = tensor_at(c, 2);
  if (x == nullptr || target == nullptr) return {.flops = 0};
  if (p.role == KernelRole::fill) return moves(0, dense_bytes(x), x->dtype);
  const double rows = numel(*target);
  return moves(touched_bytes(*target) + touched_or_zero(tensor_at(c, 0)) + touched_or_zero(tensor_at(c, 3)),
               std::min(rows * kSector, numel(*x) * item_bytes(x->dtype)), x->dtype);
}

// The kernel that computes the elements reads the first `inputs` arguments (the result may follow); the one that adds them up,
// what that wrote.
OpWork compared(const OpCall& c, const Part& p, std::size_t inputs) {
  const TensorShape* x = tensor_at(c, 0);
  if (x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::combine) return moves(dense_bytes(x), item_bytes(x->dtype), x->dtype);
  double read = 0;
  for (std::size_t i = 0; i < inputs; ++i) read += touched_or_zero(tensor_at(c, i));
  return moves(read, dense_bytes(x), x->dtype);
}
template <std::size_t inputs>
OpWork reads(const OpCall& c, const Part& p) {
  return compared(c, p, inputs);
}

// (grad, x, target, ..): the gradient of a reduced loss is one value; what is written is as large as x.
template <std::size_t inputs>
OpWork grads(const OpCall& c, const Part&) {
  const TensorShape* x = tensor_at(c, 1);
  if (x == nullptr) return {.flops = 0};
  double read = 0;
  for (std::size_t i = 0; i < inputs; ++i) read += touched_or_zero(tensor_at(c, i));
  return moves(read, dense_bytes(x), x->dtype);
}

constexpr OpFamily kFamily = OpFamily::loss;
constexpr OpFormula kRows[] = {
    {"aten::nll_loss_forward", kFamily, nll_forward, "nll_loss"},
    {"aten::nll_loss2d_forward", kFamily, nll_forward, "nll_loss"},
    {"aten::nll_loss_backward", kFamily, nll_backward},
    {"aten::nll_loss2d_backward", kFamily, nll_backward, "nll_loss_backward"},
    {"aten::mse_loss", kFamily, reads<2>},
    {"aten::smooth_l1_loss", kFamily, reads<2>},
    {"aten::huber_loss", kFamily, reads<2>},
    {"aten::binary_cross_entropy", kFamily, reads<3>},
    {"aten::mse_loss_backward", kFamily, grads<3>},
    {"aten::smooth_l1_loss_backward", kFamily, grads<3>},
    {"aten::huber_loss_backward", kFamily, grads<3>},
    {"aten::binary_cross_entropy_backward", kFamily, grads<4>},
};

}  // namespace

std::span<const OpFormula> loss_ops() { return kRows; }

}  // namespace ridge
