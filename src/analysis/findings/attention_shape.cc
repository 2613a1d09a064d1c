// The product's op tells the sizes; aten::matmul around it how its batch is made of sequences and heads.
#include "analysis/findings/attention_shape.h"

#include "ops/operands.h"

namespace ridge {
namespace {

OpArgument tensor(std::vector<std::int64_t> sizes, DType dtype) {
  OpArgument out;
  out.kind = OpArgument::Kind::tensor;
  out.tensor = {std::move(sizes), {}, dtype};
  return out;
}

}  // namespace

std::optional<AttentionShapes::Sizes> AttentionShapes::sizes_of(const WorkRow& product, bool backward) {
  const NodeId op = facts_.op(product.row);
  if (op == kNoNode) return std::nullopt;
  const OpCall& call = facts_.call(op);
  const bool added = call.op.find("baddbmm") != std::string_view::npos;
  const TensorShape* a = tensor_at(call, added ? 1 : 0);
  const TensorShape* b = tensor_at(call, added ? 2 : 1);
  if (a == nullptr || b == nullptr || a->sizes.size() != 3 || b->sizes.size() != 3) return std::nullopt;
  Sizes out{.heads = a->sizes[0], .queries = a->sizes[1], .keys = b->sizes[2], .depth = a->sizes[2], .dtype = a->dtype};
  // Backward the product before the softmax may be of the values' gradient: scores by rows, of depth the smaller side.
  if (backward && out.depth > out.keys) std::swap(out.depth, out.keys);
  const NodeId above = facts_.tree().op_above(op);
  if (above != kNoNode && facts_.name(above) == "aten::matmul") {
    const TensorShape* q = tensor_at(facts_.call(above), 0);
    if (q != nullptr && q->sizes.size() == 4) heads_of_[a->sizes[0]] = {q->sizes[0], q->sizes[1]};
  }
  if (const auto known = heads_of_.find(a->sizes[0]); known != heads_of_.end()) std::tie(out.batch, out.heads) = known->second;
  return out;
}

std::optional<double> AttentionShapes::fused_ns(const WorkRow& product, std::int64_t device, bool backward) {
  const auto sizes = sizes_of(product, backward);
  if (!sizes || !facts_.would_take().is_measured(device)) return std::nullopt;
  const auto [known, is_new] =
      known_.try_emplace({sizes->batch, sizes->heads, sizes->queries, sizes->keys, sizes->depth, sizes->dtype, backward});
  if (!is_new) return known->second;
  const OpArgument q = tensor({sizes->batch, sizes->heads, sizes->queries, sizes->depth}, sizes->dtype);
  const OpArgument k = tensor({sizes->batch, sizes->heads, sizes->keys, sizes->depth}, sizes->dtype);
  OpCall call;
  call.has_shapes = true;
  const bool half = sizes->dtype == DType::bf16 || sizes->dtype == DType::f16;
  if (!backward) {
    call.op = "aten::scaled_dot_product_attention";
    call.arguments = {q, k, k};
  } else {
    const OpArgument sums = tensor({sizes->batch, sizes->heads, sizes->queries}, DType::f32);
    call.op =
        half ? "aten::_scaled_dot_product_flash_attention_backward" : "aten::_scaled_dot_product_efficient_attention_backward";
    call.arguments = half ? std::vector{q, q, k, k, q, sums} : std::vector{q, q, k, k, OpArgument(), q, sums};
  }
  if (const auto expected = facts_.would_take().of(call, false, device)) known->second = expected->ns;
  return known->second;
}

}  // namespace ridge
