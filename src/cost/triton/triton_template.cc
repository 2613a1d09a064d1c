// Inductor's templates: operands found among the pointers by their shapes, FLOPs by the sort of work that the name fuses.
#include "cost/triton/triton_template.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "ops/op_work.h"

namespace ridge {
namespace {

using Pointers = std::span<const TritonPointer>;

// A formula finds its operands among the inputs; the output is the last pointer, in whatever view.
struct Found {
  double flops = 0;
  DType dtype = DType::unknown;
};

double dim(const TensorShape& shape, std::size_t from_end) {
  return static_cast<double>(shape.sizes[shape.sizes.size() - 1 - from_end]);
}

std::size_t rank(const TensorShape& shape) { return shape.sizes.size(); }

// a @ b, both of rank 2 or both of rank 3, giving `out_elements`.
std::optional<double> product_flops(const TensorShape& a, const TensorShape& b, double out_elements) {
  if (rank(a) != rank(b) || (rank(a) != 2 && rank(a) != 3)) return std::nullopt;
  if (dim(a, 0) != dim(b, 1)) return std::nullopt;
  const double batch = rank(a) == 3 ? dim(a, 2) : 1;
  if (rank(a) == 3 && dim(b, 2) != batch) return std::nullopt;
  const double out = batch * dim(a, 1) * dim(b, 0);
  if (out != out_elements) return std::nullopt;
  return 2 * out * dim(a, 0);
}

// Operands are neighbours; equal ones are passed once. Two products are added in one kernel when both pairs fit.
std::optional<Found> matrix_product(Pointers inputs, const TensorShape& out) {
  const double out_elements = numel(out);
  for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
    const auto flops = product_flops(*inputs[i].shape, *inputs[i + 1].shape, out_elements);
    if (!flops) continue;
    std::optional<double> second;
    if (i + 3 < inputs.size()) second = product_flops(*inputs[i + 2].shape, *inputs[i + 3].shape, out_elements);
    return Found{*flops + second.value_or(0), inputs[i].shape->dtype};
  }
  for (const TritonPointer& p : inputs)
    if (const auto flops = product_flops(*p.shape, *p.shape, out_elements)) return Found{*flops, p.shape->dtype};
  return std::nullopt;
}

// x [N, C, ...], w [O, C / groups, k...], out [N, O, ...]: each output element takes C / groups * k multiply-adds.
std::optional<Found> convolution(Pointers inputs, const TensorShape& out) {
  for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
    const TensorShape& x = *inputs[i].shape;
    const TensorShape& w = *inputs[i + 1].shape;
    if (rank(x) < 3 || rank(w) != rank(x) || x.sizes[1] < w.sizes[1] || w.sizes[1] == 0 || x.sizes[1] % w.sizes[1] != 0 ||
        w.sizes[0] == 0)
      continue;
    const double out_elements = numel(out);
    const double per_output = static_cast<double>(x.sizes[0]) * static_cast<double>(w.sizes[0]);
    if (per_output == 0 || std::fmod(out_elements, per_output) != 0) continue;
    return Found{2 * out_elements * numel(w) / static_cast<double>(w.sizes[0]), x.dtype};
  }
  return std::nullopt;
}

bool is_head_type(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f8;
}

// q, k, v are the first tensors of four dimensions; equal ones are passed once, so that one or two may stand for three.
std::vector<const TensorShape*> heads(Pointers pointers) {
  std::vector<const TensorShape*> out;
  for (const TritonPointer& p : pointers)
    if (rank(*p.shape) >= 4 && is_head_type(p.shape->dtype) && p.elements > 1) out.push_back(p.shape);
  return out;
}

// Multiplications of q with every k, and with every v: `with_key` of the one kind and `with_value` of the other.
std::optional<Found> attention(const std::vector<const TensorShape*>& inputs, double with_key, double with_value) {
  if (inputs.empty()) return std::nullopt;
  const TensorShape& q = *inputs.front();
  const TensorShape& k = inputs.size() > 1 ? *inputs[1] : q;
  const TensorShape& v = inputs.size() > 2 ? *inputs[2] : k;
  const double keys = dim(k, 1), rows = dim(q, 0) > 0 ? numel(q) / dim(q, 0) : 0;
  return Found{2 * rows * keys * (with_key * dim(q, 0) + with_value * dim(v, 0)), q.dtype};
}

std::optional<Found> attention_forward(Pointers inputs, const TensorShape&) { return attention(heads(inputs), 1, 1); }

// Five products, as PyTorch counts a backward pass: q k^T again, dv, dp, dq, dk.
std::optional<Found> attention_backward(Pointers inputs, const TensorShape&) { return attention(heads(inputs), 3, 2); }

struct TemplateFormula {
  std::string_view work;  // an op among the fused ones, or the sort of matrix work that its row in src/ops says
  std::optional<Found> (*find)(Pointers inputs, const TensorShape& out);
  // Operands that a template of this kind writes besides its last pointer: those of float type with `written_rank` dimensions.
  std::size_t written_rank = 0;
};

// The first whose work is fused; a product's name also stands beside an attention's, so attention comes first.
constexpr TemplateFormula kTemplateFormulas[] = {
    {"flex_attention_backward", attention_backward},
    {"flex_attention", attention_forward, 3},  // writes the log-sum-exp and the maximum of each row
    {"convolution", convolution},
    {"convolution_backward", convolution},
    {"gemm", matrix_product},
};

std::string_view work_of(std::string_view op) {
  const OpFormula* row = find_op_by_plain_name(op);
  return row != nullptr && is_matrix_work(*row) ? matrix_sort(*row) : op;
}

const TemplateFormula* formula_of(std::span<const std::string> ops) {
  for (const TemplateFormula& formula : kTemplateFormulas) {
    if (std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return work_of(op) == formula.work; })) return &formula;
  }
  return nullptr;
}

}  // namespace

std::optional<TemplateCost> template_cost(const TritonArguments& arguments, std::span<const std::string> fused_ops,
                                          std::optional<double> kernel_flop) {
  const Pointers pointers = arguments.pointers;
  if (pointers.size() < 2) return std::nullopt;
  const Pointers inputs = pointers.first(pointers.size() - 1);
  const TemplateFormula* formula = formula_of(fused_ops);

  TemplateCost cost;
  cost.dtype = inputs.front().shape->dtype;
  if (const auto found = formula != nullptr ? formula->find(inputs, *pointers.back().shape) : std::nullopt) {
    cost.flops = found->flops;
    cost.dtype = found->dtype;
  } else if (kernel_flop && *kernel_flop > 0) {
    cost.flops = kernel_flop;
  }
  cost.written = pointers.back().bytes;
  for (const TritonPointer& p : inputs) {
    const bool written = formula != nullptr && formula->written_rank > 0 && rank(*p.shape) == formula->written_rank &&
                         p.shape->dtype == DType::f32;
    (written ? cost.written : cost.read) += p.bytes;
  }
  return cost;
}

}  // namespace ridge
