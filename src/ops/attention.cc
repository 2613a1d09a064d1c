// Scaled dot-product attention, forward and backward.
//
// FLOPs (torch/utils/flop_counter.py): two products forward, five backward, over the whole square whatever the mask; what a
// causal mask leaves is a figure of its own. The ops with `_scaled_dot_product_` and cuDNN's take [B, H, S, D];
// `_flash_attention_*` and
// `_efficient_attention_*`, which stand nearest to the kernel, take [B, S, H, D]. With cumulative lengths flash and cuDNN take
// [tokens, H, D], efficient [1, tokens, H, D]: the sequences of a batch one behind the other.
#include <algorithm>

#include "ops/operands.h"

namespace ridge {
namespace {

using At = AttentionPositions;
using Layout = At::Layout;

struct Sizes {
  double batch = 0, heads = 0, queries = 0, keys = 0, qk_depth = 0, v_depth = 0;
  bool causal = false, ambiguous = false;
  bool counted = true;  // false: which tokens meet is not told, so `batch`, `queries` and `keys` are one sequence of all tokens
  double square() const { return 2 * batch * heads * queries * keys; }
  double rows() const { return batch * heads * queries; }
};

double at(const TensorShape& t, std::size_t i) { return static_cast<double>(t.sizes[i]); }

// Lengths are values of a tensor, which no trace holds: every sequence counts as the longest, as PyTorch's counter does without
// them. Where that is not told either, a square of all tokens would be off by as many times as there are sequences: nothing is
// counted.
void take_longest(const OpCall& call, std::size_t longest_at, const TensorShape* lengths, Sizes* s) {
  const auto longest_q = number_at(call, longest_at), longest_k = number_at(call, longest_at + 1);
  s->ambiguous = true;
  // Some forms have only the first of the two, and another number behind it.
  s->counted = lengths != nullptr && lengths->sizes.size() == 1 && longest_q >= 1.0 && longest_k >= 1.0;
  if (!s->counted) return;
  s->batch = std::max(at(*lengths, 0) - 1, 0.0);
  s->queries = *longest_q;
  s->keys = *longest_k;
}

std::optional<Sizes> sizes_of(const OpCall& call, const At& spelling) {
  const auto first = static_cast<std::size_t>(spelling.q);
  const TensorShape* q = tensor_at(call, first);
  const TensorShape* k = tensor_at(call, first + 1);
  const TensorShape* v = tensor_at(call, first + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  const std::size_t rank = q->sizes.size();
  if (k->sizes.size() != rank || v->sizes.size() != rank || rank < 3 || rank > 4) return std::nullopt;
  Sizes s;
  s.qk_depth = at(*q, rank - 1);
  s.v_depth = at(*v, rank - 1);
  const bool heads_first = spelling.layout == Layout::heads_first;
  if (rank == 4) {
    s.batch = at(*q, 0);
    s.heads = at(*q, heads_first ? 1 : 2);
    s.queries = at(*q, heads_first ? 2 : 1);
    s.keys = at(*k, heads_first ? 2 : 1);
  } else if (spelling.lengths >= 0) {
    s.batch = 1;
    s.heads = at(*q, 1);
    s.queries = at(*q, 0);
    s.keys = at(*k, 0);
  } else {
    return std::nullopt;
  }
  if (spelling.lengths >= 0) {
    const auto lengths_at = static_cast<std::size_t>(spelling.lengths);
    const TensorShape* lengths = tensor_at(call, lengths_at);
    const std::size_t longest_at = spelling.longest < 0 ? lengths_at + 2 : static_cast<std::size_t>(spelling.longest);
    if (lengths != nullptr || rank == 3) take_longest(call, longest_at, lengths, &s);
  }
  if (spelling.causal >= 0) {
    const auto causal = static_cast<std::size_t>(spelling.causal);
    const double mask = number_at(call, causal).value_or(0);
    s.causal = flag_at(call, causal) || mask == 1 || mask == 2;
  }
  return s;
}

// Of each query the keys at or before it, aligned at the first of both, as PyTorch's own mask is.
double causal_share(const Sizes& s) {
  if (!s.causal || s.keys <= 0 || s.queries <= 0) return 1;
  const double square = std::min(s.queries, s.keys);
  const double kept = square * (square + 1) / 2 + (s.queries - square) * s.keys;
  return std::min(1.0, kept / (s.queries * s.keys));
}

OpWork attention(const OpCall& call, const Part& part, const At& spelling) {
  OpWork work;
  const auto s = sizes_of(call, spelling);
  if (!s) return work;
  const auto first = static_cast<std::size_t>(spelling.q);
  const TensorShape* q = tensor_at(call, first);
  const TensorShape* k = tensor_at(call, first + 1);
  const TensorShape* v = tensor_at(call, first + 2);
  const double out = numel(*q) / std::max(s->qk_depth, 1.0) * s->v_depth;
  const double item = item_bytes(q->dtype);
  const AttentionPart own = part.as<AttentionPart>();
  const double accumulator = own.accumulator_bytes >= 0 ? own.accumulator_bytes : numel(*q) * item_bytes(DType::f32);
  const double per_row = s->rows() * item_bytes(DType::f32);  // log-sum-exp, delta
  switch (part.role) {
    case KernelRole::initialise: return moves(0, 0, q->dtype);
    case KernelRole::fill: return moves(0, accumulator, q->dtype);
    case KernelRole::dot_do_o: return moves(2 * out * item, per_row, q->dtype);
    case KernelRole::convert_dq: return moves(accumulator, numel(*q) * item, q->dtype);
    case KernelRole::combine: return moves(own.partial_bytes > 0 ? own.partial_bytes : out * 4, out * item, q->dtype);
    default: break;
  }
  work.dtype = q->dtype;
  work.ambiguous = s->ambiguous;
  const TensorShape* bias = spelling.bias < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(spelling.bias));
  const auto qkv = plus(plus(plus(dense_bytes(q), dense_bytes(k)), dense_bytes(v)), touched_or_zero(bias));
  if (!spelling.backward) {
    work.flops = s->square() * (s->qk_depth + s->v_depth);
    work.read = qkv;
    work.written = own.partial_bytes > 0 ? own.partial_bytes : out * item + per_row;
  } else {
    // dV and dP have the depth of v; the scores again, dQ and dK that of q.
    const double all = s->square() * (3 * s->qk_depth + 2 * s->v_depth);
    const bool own_dq = part.role == KernelRole::grad_query, own_dkv = part.role == KernelRole::grad_key_value;
    // Where dQ has a kernel of its own, that product is its part, and the rest is the other's.
    const double dq = s->square() * s->qk_depth;
    work.flops = own_dq ? dq : own_dkv ? all - dq : all;
    const bool reads_out = spelling.reads_out && item < item_bytes(DType::f32);
    work.read = plus(qkv, out * item + 2 * per_row + (own_dq || own_dkv ? 0 : accumulator) + (reads_out ? out * item : 0));
    const double grads_kv = dense_bytes(k).value_or(0) + dense_bytes(v).value_or(0);
    work.written = own_dq ? numel(*q) * item : own_dkv ? grads_kv : grads_kv + std::max(accumulator, numel(*q) * item);
  }
  if (!s->counted) work.flops = std::nullopt;
  work.flops_causal = times(work.flops, causal_share(*s));
  return work;
}

// A row whose formula reads the arguments at the row's own positions.
template <At at>
OpWork work_at(const OpCall& c, const Part& p) {
  return attention(c, p, at);
}
template <At at>
constexpr OpFormula row(std::string_view op) {
  return {.op = op, .family = OpFamily::attention, .work = work_at<at>, .positions = at};
}

constexpr Layout kTokensFirst = Layout::tokens_first;
constexpr At kSdpaFlash{.causal = 4};
constexpr At kSdpaWithBias{.causal = 6, .bias = 3};
constexpr At kSdpaOverrideable{.causal = 5, .bias = 3};
constexpr At kFlash{.layout = kTokensFirst, .causal = 8, .lengths = 3};
constexpr At kEfficient{.layout = kTokensFirst, .causal = 9, .bias = 3, .lengths = 4};
constexpr At kCudnn{.causal = 10, .bias = 3, .lengths = 4};
constexpr At kFlashPackage{.layout = kTokensFirst, .causal = 5};
// Of other libraries: flash-attention's flash_attn_interface.py and hopper/flash_api.cpp, AITER's aiter/ops/mha.py, xFormers'
// ops/fmha/flash.py and flash3.py, csrc/attention/attention.cpp (to 0.0.27 also Cutlass').
constexpr At kFlashPackageVarlen{.layout = kTokensFirst, .causal = 9, .lengths = 3};
constexpr At kAiterVarlen{.layout = kTokensFirst, .causal = 12, .lengths = 3};
constexpr At kXformersFlash{.layout = kTokensFirst, .causal = 10, .lengths = 3, .longest = 6};
constexpr At kSdpaFlashBackward{.q = 1, .causal = 11, .backward = true};
constexpr At kSdpaEfficientBackward{.q = 1, .causal = 11, .bias = 4, .backward = true, .reads_out = true};
constexpr At kSdpaCudnnBackward{.q = 1, .causal = 14, .bias = 8, .lengths = 9, .backward = true};
constexpr At kFlashBackward{.layout = kTokensFirst, .q = 1, .causal = 11, .lengths = 6, .backward = true};
constexpr At kEfficientBackward{
    .layout = kTokensFirst, .q = 1, .causal = 14, .bias = 4, .lengths = 6, .backward = true, .reads_out = true};
constexpr At kFlashPackageBackward{.layout = kTokensFirst, .q = 1, .backward = true};
constexpr At kFlashPackageVarlenBackward{.layout = kTokensFirst, .q = 1, .causal = 15, .lengths = 9, .backward = true};
constexpr At kFlash3Package{.layout = kTokensFirst, .causal = 24, .lengths = 7, .longest = 12};
constexpr At kFlash3PackageBackward{
    .layout = kTokensFirst, .q = 1, .causal = 16, .lengths = 9, .longest = 13, .backward = true};
constexpr At kAiterBackward{.layout = kTokensFirst, .q = 1, .causal = 8, .backward = true};
constexpr At kXformersFlashBackward{.layout = kTokensFirst, .q = 2, .causal = 13, .lengths = 7, .backward = true};
constexpr At kXformersFlash3Backward{.layout = kTokensFirst, .q = 2, .causal = 12, .lengths = 7, .backward = true};
constexpr At kXformersCkBackward{.layout = kTokensFirst, .q = 1, .causal = 15, .bias = 4, .lengths = 5, .backward = true};

constexpr OpFormula kRows[] = {
    row<kSdpaFlash>("aten::_scaled_dot_product_flash_attention"),
    row<kSdpaFlash>("aten::_scaled_dot_product_flash_attention_for_cpu"),
    row<kSdpaWithBias>("aten::_scaled_dot_product_efficient_attention"),
    row<kSdpaWithBias>("aten::_scaled_dot_product_cudnn_attention"),
    row<kSdpaOverrideable>("aten::_scaled_dot_product_fused_attention_overrideable"),
    row<kFlash>("aten::_flash_attention_forward"),
    row<kEfficient>("aten::_efficient_attention_forward"),
    row<kCudnn>("aten::_cudnn_attention_forward"),
    row<kFlashPackage>("flash_attn::_flash_attn_forward"),
    row<kFlashPackageVarlen>("flash_attn::_flash_attn_varlen_forward"),
    row<kFlashPackage>("aiter::mha_fwd"),
    row<kFlashPackage>("aiter::fmha_v3_fwd"),
    row<kFlashPackage>("aiter::_flash_attn_forward"),
    row<kAiterVarlen>("aiter::mha_varlen_fwd"),
    row<kAiterVarlen>("aiter::fmha_v3_varlen_fwd"),
    row<kXformersFlash>("xformers_flash::flash_fwd"),
    row<kSdpaFlashBackward>("aten::_scaled_dot_product_flash_attention_backward"),
    row<kSdpaEfficientBackward>("aten::_scaled_dot_product_efficient_attention_backward"),
    row<kSdpaCudnnBackward>("aten::_scaled_dot_product_cudnn_attention_backward"),
    row<kFlashBackward>("aten::_flash_attention_backward"),
    row<kEfficientBackward>("aten::_efficient_attention_backward"),
    row<kSdpaCudnnBackward>("aten::_cudnn_attention_backward"),
    row<kFlashPackageBackward>("flash_attn::_flash_attn_backward"),
    row<kFlashPackageVarlenBackward>("flash_attn::_flash_attn_varlen_backward"),
    row<kFlash3Package>("flash_attn_3::fwd"),
    row<kFlash3PackageBackward>("flash_attn_3::bwd"),
    row<kAiterBackward>("aiter::mha_bwd"),
    row<kAiterBackward>("aiter::fmha_v3_bwd"),
    row<kXformersFlash>("xformers_flash3::flash_fwd"),
    row<kXformersFlashBackward>("xformers_flash::flash_bwd"),
    row<kXformersFlash3Backward>("xformers_flash3::flash_bwd"),
    row<kEfficient>("xformers::efficient_attention_forward_cutlass"),
    row<kEfficient>("xformers::efficient_attention_forward_ck"),
    row<kEfficientBackward>("xformers::efficient_attention_backward_cutlass"),
    row<kXformersCkBackward>("xformers::efficient_attention_backward_ck"),
};

}  // namespace

std::span<const OpFormula> attention_ops() { return kRows; }

}  // namespace ridge
