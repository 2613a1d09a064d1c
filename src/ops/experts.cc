// Mixtures of experts: every token goes through the weights of the k experts that it chose, up into a wider space, through an
// activation, and down again.
//
// FLOPs: 2 per multiply-add of both products for tokens x k rows, whichever experts they meet; an activation that gates makes
// the first product twice as wide. Bytes: the tokens, the result, and the weights of the experts that were chosen at all: which
// ones is not told, so as many count as are expected when tokens choose evenly, and the figure is an estimate.
//
// Arguments as the libraries declare them: vLLM vllm/model_executor/layers/fused_moe (vllm), vllm/_aiter_ops.py; SGLang
// layers/moe/fused_moe_triton (sglang); AITER aiter/fused_moe.py, aiter/ops/moe_op.py (aiter); FlashInfer
// flashinfer/fused_moe/core.py (flashinfer); TensorRT-LLM tensorrt_llm/_torch/custom_ops/{torch,trtllm_gen}_custom_ops.py
// (trtllm), whose devices share the experts. Of vllm::moe_forward the weights are no argument: ExpertsPart has what its
// allocations tell.
#include <algorithm>
#include <cmath>

#include "ops/operands.h"

namespace ridge {
namespace {

using At = ExpertsPositions;

const TensorShape* given(const OpCall& call, int position) {
  return position < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(position));
}
double size_at(const TensorShape& t, std::size_t i) { return static_cast<double>(t.sizes[i]); }
double last(const TensorShape& t) { return t.sizes.empty() ? 0 : static_cast<double>(t.sizes.back()); }

struct Sizes {
  double tokens = 0, hidden = 0, experts = 0, top_k = 0;
  double up = 0, inner = 0;             // columns of the first product; rows of the second
  double up_bytes = 0, down_bytes = 0;  // all weights
  double share = 1;                     // of all experts, those whose weights are here
  double rows() const { return tokens * top_k * share; }
  // Of the weights, those of experts that some token chose.
  double chosen() const { return experts > 0 ? 1 - std::pow(std::max(1 - top_k * share / experts, 0.0), tokens) : 0; }
};

// [E, N, K / values to an element] and [E, K, I / ..]: packed weights are narrower than what they are multiplied with.
void take_weights(const TensorShape* up, const TensorShape* down, Sizes* s) {
  const bool has_up = up != nullptr && up->sizes.size() == 3, has_down = down != nullptr && down->sizes.size() == 3;
  const double wide = has_down ? size_at(*down, 1) : s->hidden;
  double packed = 1;
  if (has_up && last(*up) > 0) packed = std::max(std::floor(wide / last(*up)), 1.0);
  if (has_down) {
    s->experts = size_at(*down, 0);
    s->hidden = size_at(*down, 1);
    s->inner = last(*down) * packed;
    s->down_bytes = dense_bytes(down).value_or(0);
  }
  if (has_up) {
    s->experts = size_at(*up, 0);
    s->up = size_at(*up, 1);
    s->up_bytes = dense_bytes(up).value_or(0);
  }
}

// Where devices share the experts, each has its part of every token's choice. Nothing where the call does not say how many
// devices, or where tokens were sent to their experts: how many met an expert here is then not told.
std::optional<double> share_here(const OpCall& call, const At& at) {
  if (at.devices < 0) return 1;
  const auto devices = number_at(call, static_cast<std::size_t>(at.devices));
  if (!devices || *devices < 1 || flag_at(call, static_cast<std::size_t>(at.scattered))) return std::nullopt;
  return 1 / *devices;
}

std::optional<Sizes> sizes_of(const OpCall& call, const ExpertsPart& own, const At& at) {
  const TensorShape* x = given(call, at.x);
  if (x == nullptr || x->sizes.size() < 2 || last(*x) <= 0) return std::nullopt;
  const auto share = share_here(call, at);
  if (!share) return std::nullopt;
  Sizes s;
  s.share = *share;
  const bool second = at.product == At::Product::down;
  s.tokens = second ? size_at(*x, 0) : numel(*x) / last(*x);
  s.hidden = second ? 0 : last(*x);
  if (const TensorShape* chosen = given(call, at.chosen)) s.top_k = last(*chosen);
  if (at.top_k >= 0) s.top_k = number_at(call, static_cast<std::size_t>(at.top_k)).value_or(0);
  if (const TensorShape* router = given(call, at.router)) s.experts = last(*router);
  take_weights(given(call, at.up), given(call, at.down), &s);
  if (s.top_k <= 0) s.top_k = own.top_k;
  if (s.up <= 0 && own.inner > 0) {
    s.inner = own.inner;
    s.up = own.inner * (own.gated ? 2 : 1);
    s.up_bytes = s.experts * s.up * s.hidden * own.weight_item;
    s.down_bytes = s.experts * s.inner * s.hidden * own.weight_item;
  }
  if (s.top_k <= 0 || s.experts <= 0 || s.hidden <= 0) return std::nullopt;
  return s;
}

// A value or two for each token and expert that it chose: lists of who goes where.
OpWork lists(const OpCall& call, const Sizes& s, const At& at, DType dtype) {
  OpWork work = moves(s.rows() * 8 + touched_or_zero(given(call, at.router)), s.rows() * 8, dtype);
  work.ambiguous = true;
  return work;
}

// In which type the products compute: that of what is multiplied, which the call may have quantised; narrower weights are
// widened to it.
DType computes_in(const TensorShape& x, const ExpertsPart& own) {
  if (own.in_item <= 0 || own.in_item >= 2) return x.dtype;
  return own.in_item < 1 ? DType::f4 : DType::f8;
}

OpWork experts(const OpCall& call, const Part& part, const At& at, double share = 1) {
  OpWork work;
  const TensorShape* x = given(call, at.x);
  const ExpertsPart own = part.as<ExpertsPart>();
  if (x == nullptr) return work;
  work.dtype = computes_in(*x, own);
  if (part.role == KernelRole::unknown) return work;
  if (part.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  const double item = item_bytes(x->dtype), in_item = own.in_item > 0 ? own.in_item : item;
  const double result_item = own.out_item > 0 ? own.out_item : std::max(item, item_bytes(DType::bf16));
  if (part.role == KernelRole::layout_in) return moves(dense_bytes(x), numel(*x) * in_item, x->dtype);
  auto s = sizes_of(call, own, at);
  if (!s) return work;
  s->share *= share;
  // Tokens of few bits are narrower than what they stand for.
  const double tokens_bytes = own.in_item > 0 ? s->tokens * s->hidden * in_item : dense_bytes(x).value_or(0);
  const TensorShape* out = given(call, at.out);
  const double summed = out != nullptr ? dense_bytes(out).value_or(0) : s->tokens * s->hidden * std::max(item, 2.0);
  switch (part.role) {
    case KernelRole::index_helper: return lists(call, *s, at, x->dtype);
    case KernelRole::combine: return moves(s->rows() * s->hidden * result_item, summed, x->dtype);
    case KernelRole::fill: return moves(0, summed, x->dtype);
    default: break;
  }
  const bool first = part.role == KernelRole::up || (part.role == KernelRole::main && at.product == At::Product::up);
  const bool second = part.role == KernelRole::down || (part.role == KernelRole::main && at.product == At::Product::down);
  if ((!second && s->up <= 0) || (!first && s->inner <= 0)) return work;  // the widths are not told
  const double up = 2 * s->rows() * s->up * s->hidden, down = 2 * s->rows() * s->inner * s->hidden;
  const double scales_up = touched_or_zero(given(call, at.scale_up)), scales_down = touched_or_zero(given(call, at.scale_down));
  work.ambiguous = true;
  if (first) {
    work.flops = up;
    work.read = tokens_bytes + s->chosen() * (s->up_bytes + scales_up);
    work.written = out != nullptr ? dense_bytes(out) : s->rows() * (own.gated ? s->inner : s->up) * result_item;
  } else if (second) {
    work.flops = down;
    work.read = s->rows() * s->inner * in_item + s->chosen() * (s->down_bytes + scales_down);
    work.written = out != nullptr ? dense_bytes(out) : s->rows() * s->hidden * result_item;
  } else {
    work.flops = up + down;
    work.read = tokens_bytes + s->chosen() * (s->up_bytes + s->down_bytes + scales_up + scales_down);
    work.written = summed;
  }
  return work;
}

template <At at>
OpWork work_at(const OpCall& c, const Part& p) {
  return experts(c, p, at);
}
template <At at>
constexpr OpFormula row(std::string_view op, std::string_view canonical = "fused_experts") {
  return {.op = op, .family = OpFamily::experts, .work = work_at<at>, .canonical = canonical, .positions = at};
}

// (logits, bias, x, scale, up, scale, [bias, three numbers,] down, scale, .., experts, k, four numbers, experts here, ..);
// where the numbers begin, and where in the longer form, which has tensors for the activation before the second weights.
template <At at, int numbers, int later>
OpWork runner(const OpCall& c, const Part& p) {
  const TensorShape* down = given(c, at.down);
  const bool is_longer = down == nullptr || down->sizes.size() != 3;
  At own = at;
  if (is_longer) {
    own.down += 4;
    own.scale_down += 4;
  }
  const auto from = static_cast<std::size_t>(is_longer ? later : numbers);
  own.top_k = static_cast<int>(from) + 1;
  const auto all = number_at(c, from), here = number_at(c, from + 6);
  if (!all || !here || *all < 1) return {};
  return experts(c, p, own, std::min(*here / *all, 1.0));
}

// (x, up, down, weights of the choice, choice, ..)
constexpr At kFused{.up = 1, .down = 2, .chosen = 4};
constexpr At kFusedScaled{.up = 1, .down = 2, .chosen = 4, .scale_up = 9, .scale_down = 10};
// (out, x, up, down, sorted tokens, their weights, their experts, counts, k, ..)
constexpr At kSorted{.x = 1, .up = 2, .down = 3, .top_k = 8, .out = 0};
constexpr At kSortedScaled{.x = 1, .up = 2, .down = 3, .top_k = 8, .out = 0, .scale_up = 10, .scale_down = 11};
constexpr At kStage1{.up = 1, .down = 2, .top_k = 7, .out = 6, .product = At::Product::up};
constexpr At kStage2{.up = 1, .down = 2, .top_k = 7, .out = 6, .product = At::Product::down};
constexpr At kTile1{.up = 1, .top_k = 6, .out = 2, .product = At::Product::up};
constexpr At kTile2{.down = 1, .top_k = 6, .out = 2, .product = At::Product::down};
constexpr At kRouted{.router = 1};                                                 // (x, logits, ..)
constexpr At kRunner{.x = 2, .up = 4, .down = 6, .scale_up = 5, .scale_down = 7};  // see runner

constexpr OpFormula kRows[] = {
    row<kRouted>("vllm::moe_forward"),
    row<kRouted>("vllm::moe_forward_shared"),
    row<kFused>("vllm::fused_experts"),
    row<kFused>("vllm::inplace_fused_experts"),
    row<kFused>("vllm::outplace_fused_experts"),
    row<kFused>("sglang::inplace_fused_experts"),
    row<kFused>("sglang::outplace_fused_experts"),
    row<kFusedScaled>("vllm::rocm_aiter_fused_moe"),
    row<kFused>("vllm::rocm_aiter_asm_moe_tkw1"),
    row<kFusedScaled>("aiter::fused_moe_"),
    row<kSorted>("aiter::fmoe"),
    row<kSortedScaled>("aiter::fmoe_int8_g1u0"),
    row<kSortedScaled>("aiter::fmoe_g1u1"),
    row<kSortedScaled>("aiter::fmoe_g1u1_tkw1"),
    row<kSortedScaled>("aiter::fmoe_fp8_blockscale_g1u1"),
    row<kStage1>("aiter::ck_moe_stage1", "experts_up"),
    row<kStage2>("aiter::ck_moe_stage2", "experts_down"),
    row<kTile1>("aiter::moe_cktile2stages_gemm1_ck", "experts_up"),
    row<kTile2>("aiter::moe_cktile2stages_gemm2_ck", "experts_down"),
    row<At{.x = 1, .up = 4, .down = 6, .chosen = 2, .out = 0}>("flashinfer::cutlass_fused_moe"),
    row<At{.up = 3, .down = 5, .chosen = 1, .devices = 16, .scattered = 20}>("trtllm::fused_moe"),
    {"trtllm::fp8_block_scale_moe_runner", OpFamily::experts, runner<kRunner, 8, 8>, "fused_experts", kRunner},
    {"trtllm::fp4_block_scale_moe_runner", OpFamily::experts, runner<kRunner, 11, 16>, "fused_experts", kRunner},
};

}  // namespace

std::span<const OpFormula> experts_ops() { return kRows; }

}  // namespace ridge
