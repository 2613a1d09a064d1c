// Attention of servers, over a cache of pages that sequences of any length share. How many keys a query meets is in tensors of
// indices, whose values no trace holds: it is taken from the server's own mark of the step (AttentionPart::tokens), else from
// the longest sequence where the call is told it, every sequence counted as the longest; else nothing is claimed.
//
// FLOPs as for any attention (torch/utils/flop_counter.py): two products over queries x keys, whatever the mask; what a causal
// mask leaves is flops_causal. Bytes: queries and result, and of each sequence its keys and values once for all heads that
// share them, in the cache's type.
//
// Arguments as the libraries declare them: vLLM vllm/model_executor/layers/attention/attention.py (vllm),
// csrc/rocm/torch_bindings.cpp (_rocm_C), csrc/torch_bindings.cpp to 0.11 (_C::paged_attention_v1 and v2),
// vllm/vllm_flash_attn/flash_attn_interface.py (_vllm_fa2_C, _vllm_fa3_C); SGLang sgl-kernel csrc/flash_extension.cc; AITER
// aiter/ops/attention.py, also as SGLang's shape recorder names it (sglang_profiler).
#include <algorithm>

#include "ops/operands.h"

namespace ridge {
namespace {

using At = PagedPositions;
using Keys = At::Keys;

const TensorShape* given(const OpCall& call, int position) {
  return position < 0 ? nullptr : tensor_at(call, static_cast<std::size_t>(position));
}
double from_back(const TensorShape& t, std::size_t i) {
  return t.sizes.size() < i ? 0 : static_cast<double>(t.sizes[t.sizes.size() - i]);
}

struct Heads {
  double queries = 0, keys = 0, qk_depth = 0, v_depth = 0;
  double key_item = 0;                                                 // bytes of a value of the cache
  double cache_values() const { return keys * (qk_depth + v_depth); }  // of a token
};

std::optional<Heads> heads_of(const OpCall& call, const At& at) {
  const TensorShape* q = given(call, at.q);
  const TensorShape* k = given(call, at.k);
  const TensorShape* v = given(call, at.v);
  if (q == nullptr || k == nullptr || q->sizes.size() != 3 || k->sizes.size() < 3) return std::nullopt;
  Heads h{.queries = from_back(*q, 2), .keys = from_back(*k, 2), .qk_depth = from_back(*q, 1)};
  h.v_depth = v != nullptr && v->sizes.size() >= 3 ? from_back(*v, 1) : h.qk_depth;
  h.key_item = item_bytes(k->dtype);
  switch (at.keys) {
    case Keys::fresh:
      // A server quantises the queries where the cache is of that type.
      if (q->dtype == DType::f8) h.key_item = item_bytes(DType::f8);
      break;
    case Keys::paged: break;
    case Keys::blocks:
      h.keys = static_cast<double>(k->sizes[1]);
      h.v_depth = h.qk_depth;
      break;
    case Keys::latent:
      h.keys = 1;
      if (const TensorShape* out = given(call, at.out)) h.v_depth = from_back(*out, 1);
      break;
  }
  return h;
}

// Over all sequences.
struct Met {
  double pairs = 0, kept = 0;  // queries x keys; what a causal mask leaves of them
  double keys = 0;
};

// Of requests of one sort; nothing where the mark does not tell. Requests that are read from their start meet their own
// tokens: where keys are not told, those that an earlier step or another request left in the cache are not counted.
std::optional<Met> met(const ServerTokens::Sum& sum, bool context) {
  if (sum.queries <= 0) return Met{};
  const bool alone = sum.requests == 1;
  double squares = sum.squares >= 0 ? sum.squares : alone ? sum.queries * sum.queries : -1;
  double pairs = sum.pairs, keys = sum.keys;
  if (pairs < 0 && context) {
    pairs = squares;
    keys = sum.queries;
  }
  if (pairs < 0 || keys < 0) return std::nullopt;
  if (squares < 0) squares = sum.queries;
  return Met{pairs, pairs - std::max(squares - sum.queries, 0.0) / 2, keys};
}

std::optional<Met> met_by_mark(const ServerTokens& tokens) {
  if (!tokens.known) return std::nullopt;
  const auto context = met(tokens.context, true), generation = met(tokens.generation, false);
  if (!context || !generation) return std::nullopt;
  return Met{context->pairs + generation->pairs, context->kept + generation->kept, context->keys + generation->keys};
}

std::optional<Met> met_by_longest(const OpCall& call, const At& at, const TensorShape& q) {
  const auto longest = at.longest < 0 ? std::nullopt : number_at(call, static_cast<std::size_t>(at.longest));
  const TensorShape* sequences = given(call, at.sequences);
  if (!longest || sequences == nullptr || sequences->sizes.size() != 1) return std::nullopt;
  const double pairs = static_cast<double>(q.sizes[0]) * *longest;
  return Met{pairs, pairs, numel(*sequences) * *longest};
}

// With a window each query meets so many keys at most. Lengths are known as sums: right where all sequences are longer than the
// window, or none is.
Met within(Met all, const ServerTokens& tokens, double queries, double window) {
  const double requests = tokens.context.requests + tokens.generation.requests;
  all.pairs = std::min(all.pairs, queries * window);
  all.kept = std::min(all.kept, all.pairs);
  if (requests > 0) all.keys = std::min(all.keys, queries + requests * window);
  return all;
}

OpWork paged(const OpCall& call, const Part& part, const At& at, int window_at) {
  OpWork work;
  const TensorShape* q = given(call, at.q);
  const auto heads = heads_of(call, at);
  if (!heads) return work;
  const AttentionPart own = part.as<AttentionPart>();
  work.dtype = q->dtype;
  const TensorShape* given_out = given(call, at.out);
  const double elements = numel(*q) / std::max(heads->qk_depth, 1.0) * heads->v_depth;
  const double out = given_out != nullptr ? touched_bytes(*given_out) : elements * item_bytes(q->dtype);
  switch (part.role) {
    case KernelRole::unknown: return {.dtype = q->dtype};
    case KernelRole::initialise: return moves(0, 0, q->dtype);
    case KernelRole::fill: return moves(0, out, q->dtype);
    case KernelRole::combine:
      return moves(own.partial_bytes > 0 ? std::optional(own.partial_bytes) : std::nullopt, out, q->dtype);
    default: break;
  }
  auto seen = met_by_mark(own.tokens);
  if (!seen) seen = met_by_longest(call, at, *q);
  if (!seen || own.window) return work;
  const auto before = window_at < 0 ? std::nullopt : number_at(call, static_cast<std::size_t>(window_at));
  if (before && *before >= 0) seen = within(*seen, own.tokens, static_cast<double>(q->sizes[0]), *before + 1);
  const double each = 2 * heads->queries * (heads->qk_depth + heads->v_depth);
  // One latent serves as key and as value.
  const double values = at.keys == Keys::latent ? heads->qk_depth : heads->cache_values();
  work.flops = each * seen->pairs;
  work.flops_causal = each * seen->kept;
  work.read = plus(dense_bytes(q), seen->keys * values * heads->key_item);
  work.written = own.partial_bytes > 0 ? own.partial_bytes : out;
  work.ambiguous = true;
  return work;
}

// `window_at`: the number of keys before a query that it meets, where the call is told; negative: all.
template <At at, int window_at>
OpWork work_at(const OpCall& c, const Part& p) {
  return paged(c, p, at, window_at);
}
template <At at, int window_at = -1>
constexpr OpFormula row(std::string_view op) {
  return {.op = op, .family = OpFamily::attention, .work = work_at<at, window_at>, .positions = at};
}

constexpr At kFlash3{.keys = Keys::paged, .out = 6, .longest = 13, .sequences = 11};
constexpr At kRocm{.keys = Keys::blocks, .q = 4, .k = 5, .v = 6, .out = 0, .longest = 13, .sequences = 10};

constexpr OpFormula kRows[] = {
    row<At{.out = 3}>("vllm::unified_attention_with_output"),
    row<At{}>("vllm::unified_attention"),
    row<At{.keys = Keys::blocks, .q = 1, .k = 2, .v = 3, .out = 0, .longest = 9, .sequences = 7}>("_C::paged_attention_v1"),
    row<At{.keys = Keys::blocks, .q = 4, .k = 5, .v = 6, .out = 0, .longest = 12, .sequences = 10}>("_C::paged_attention_v2"),
    row<kRocm>("_rocm_C::paged_attention"),
    row<At{.keys = Keys::blocks, .q = 4, .k = 5, .v = 6, .out = 0, .longest = 12, .sequences = 10}>(
        "aiter::paged_attention_rocm"),
    row<At{.keys = Keys::paged, .q = 2, .k = 3, .v = 4, .out = 0}>("aiter::paged_attention_ragged"),
    row<At{.keys = Keys::paged, .q = 2, .k = 3, .v = 4, .out = 0}>("sglang_profiler::attention_paged_attention_ragged"),
    row<At{.keys = Keys::paged}>("aiter::mha_batch_prefill"),
    row<At{.keys = Keys::paged, .out = 3, .longest = 11, .sequences = 6}, 16>("_vllm_fa2_C::varlen_fwd"),
    row<kFlash3, 25>("_vllm_fa3_C::fwd"),
    row<kFlash3, 25>("sgl_kernel::fwd"),
    row<At{.keys = Keys::latent, .q = 0, .k = 1, .v = -1, .out = 16}>("aiter::mla_decode_stage1_asm_fwd"),
    row<At{.keys = Keys::latent, .q = 0, .k = 1, .v = -1, .out = 2}>("vllm::rocm_aiter_mla_decode_fwd"),
};

}  // namespace

std::span<const OpFormula> paged_attention_ops() { return kRows; }

}  // namespace ridge
