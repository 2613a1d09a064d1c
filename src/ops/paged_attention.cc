// Attention of servers, over a cache of pages that sequences of any length share. How many keys a query meets is in tensors of
// indices, whose values no trace holds: it is taken from the server's own mark of the step (AttentionPart::tokens), else from
// the longest sequence where the call is told it, every sequence counted as the longest; of tokens that are generated, else
// from the list of pages, all counted as full; else nothing is claimed. A list of more pages than the cache has is a buffer for
// more than one step, and tells nothing.
//
// FLOPs as for any attention (torch/utils/flop_counter.py): two products over queries x keys, whatever the mask; what a causal
// mask leaves is flops_causal. Bytes: queries and result, and of each sequence its keys and values once for all heads that
// share them, in the cache's type.
//
// Arguments as the libraries declare them: vLLM vllm/model_executor/layers/attention/attention.py (vllm),
// csrc/rocm/torch_bindings.cpp (_rocm_C), csrc/torch_bindings.cpp to 0.11 (_C::paged_attention_v1 and v2),
// vllm/vllm_flash_attn/flash_attn_interface.py (_vllm_fa2_C, _vllm_fa3_C); SGLang sgl-kernel csrc/flash_extension.cc; AITER
// aiter/ops/attention.py, also as SGLang's shape recorder names it (sglang_profiler); FlashInfer 0.2.1 to 0.3
// csrc/{batch_decode,batch_prefill,single_decode,single_prefill,batch_mla}*_pybind.cu, whose namespaces are the names of the
// modules that it compiled as it ran, to "_dtype_q_" here, or flashinfer_kernels (csrc/flashinfer_ops*.cu), and
// csrc/trtllm_fmha_kernel_launcher.cu (fmha_gen). Later releases call no torch op. vLLM csrc/libtorch_stable/torch_bindings.cpp
// (_C::sm100_cutlass_mla_decode), SGLang sgl-kernel csrc/common_extension.cc (cutlass_mla_decode). FlashMLA, by itself and in
// SGLang: csrc/flashmla_extension.cc; in vLLM: vllm/v1/attention/ops/flashmla.py (_flashmla_C, _flashmla_extension_C).
#include <algorithm>
#include <cmath>

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

// What FlashMLA's calls are told besides: the depth of a value as a number, and, of sparse attention, which keys a query meets,
// [sequences, queries, keys].
struct LatentArguments {
  int v_depth = -1;
  int picked = -1;
};

std::optional<Heads> heads_of(const OpCall& call, const At& at, const LatentArguments& told) {
  const TensorShape* q = given(call, at.q);
  const TensorShape* k = given(call, at.k);
  const TensorShape* v = given(call, at.v);
  if (q == nullptr || k == nullptr || q->sizes.size() < 2 || q->sizes.size() > 4 || k->sizes.size() < 3) return std::nullopt;
  const bool heads_first = at.layout >= 0 && number_at(call, static_cast<std::size_t>(at.layout)) == 1;
  Heads h{.queries = from_back(*q, 2), .keys = from_back(*k, heads_first ? 3 : 2), .qk_depth = from_back(*q, 1)};
  h.v_depth = v != nullptr && v->sizes.size() >= 3 ? from_back(*v, 1) : h.qk_depth;
  h.key_item = item_bytes(k->dtype);
  switch (at.keys) {
    case Keys::fresh:
      // A server quantises the queries where the cache is of that type.
      if (q->dtype == DType::f8) h.key_item = item_bytes(DType::f8);
      break;
    case Keys::ragged:
    case Keys::paged: break;
    case Keys::blocks:
      h.keys = static_cast<double>(k->sizes[1]);
      h.v_depth = h.qk_depth;
      // Latents under the names of keys and values.
      if (const TensorShape* out = given(call, at.out); out != nullptr && from_back(*out, 1) != h.v_depth) return std::nullopt;
      break;
    case Keys::latent:
      h.keys = 1;
      if (const TensorShape* place = given(call, at.q_place)) h.qk_depth += from_back(*place, 1);
      if (const TensorShape* out = given(call, at.out)) h.v_depth = from_back(*out, 1);
      if (told.v_depth >= 0) {
        const auto depth = number_at(call, static_cast<std::size_t>(told.v_depth));
        if (!depth || *depth <= 0 || *depth > h.qk_depth) return std::nullopt;
        h.v_depth = *depth;
      }
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

double tokens_of(const TensorShape& q, const Heads& heads) { return numel(q) / std::max(from_back(q, 1) * heads.queries, 1.0); }

std::optional<Met> met_by_longest(const OpCall& call, const At& at, double queries) {
  const auto longest = at.longest < 0 ? std::nullopt : number_at(call, static_cast<std::size_t>(at.longest));
  const TensorShape* sequences = given(call, at.sequences);
  if (!longest || sequences == nullptr || sequences->sizes.size() != 1) return std::nullopt;
  const double pairs = queries * *longest;
  return Met{pairs, pairs, numel(*sequences) * *longest};
}

// One query of each sequence meets all its pages: [pages, page, heads, depth] of keys, [pages, page, depth] of latents.
std::optional<Met> met_by_pages(const OpCall& call, const At& at, const Heads& heads, double queries) {
  const TensorShape* list = given(call, at.pages);
  const TensorShape* k = given(call, at.k);
  const TensorShape* sequences = given(call, at.sequences);
  if (list == nullptr || k->sizes.empty() || k->sizes[0] <= 0 || numel(*list) > static_cast<double>(k->sizes[0]))
    return std::nullopt;
  if (sequences == nullptr || numel(*sequences) != queries) return std::nullopt;
  const double page = numel(*k) / (static_cast<double>(k->sizes[0]) * std::max(heads.keys * from_back(*k, 1), 1.0));
  const double keys = numel(*list) * page;
  return Met{keys, keys, keys};
}

// All keys are an argument. Of several sequences, which query meets which is not told: the server's mark says it of a prompt
// that is read from its start.
std::optional<Met> met_in_call(const OpCall& call, const At& at, const Heads& heads, double queries,
                               const ServerTokens::Sum& context) {
  const TensorShape& k = *given(call, at.k);
  const double keys = numel(k) / std::max(heads.keys * from_back(k, 1), 1.0);
  const TensorShape* ends = given(call, at.ends);
  if (at.ends >= 0 && ends == nullptr) return std::nullopt;
  const bool causal = at.causal >= 0 && number_at(call, static_cast<std::size_t>(at.causal)) == 1;
  double pairs = queries * keys, squares = std::pow(std::min(queries, keys), 2);
  if (ends != nullptr && numel(*ends) != 2) {
    if (context.squares < 0 || context.queries != queries || keys != queries) return std::nullopt;
    pairs = squares = context.squares;
  }
  const double above = std::max(squares - std::min(queries, keys), 0.0) / 2;  // of a causal mask
  return Met{pairs, causal ? pairs - above : pairs, keys};
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

std::optional<Met> met_of(const OpCall& call, const At& at, const LatentArguments& told, const Heads& heads, double queries,
                          const ServerTokens& tokens) {
  // Keys that several queries meet are read for each: which they are no trace tells.
  if (const TensorShape* picked = given(call, told.picked); picked != nullptr && picked->sizes.size() == 3)
    return Met{numel(*picked), numel(*picked), numel(*picked)};
  if (at.keys == Keys::ragged) return met_in_call(call, at, heads, queries, tokens.context);
  if (const auto seen = met_by_mark(tokens)) return seen;
  if (const auto seen = met_by_longest(call, at, queries)) return seen;
  return met_by_pages(call, at, heads, queries);
}

OpWork paged(const OpCall& call, const Part& part, const At& at, const LatentArguments& told = {}) {
  OpWork work;
  const TensorShape* q = given(call, at.q);
  const auto heads = heads_of(call, at, told);
  if (!heads) return work;
  const AttentionPart own = part.as<AttentionPart>();
  work.dtype = q->dtype;
  const TensorShape* given_out = given(call, at.out);
  const double queries = tokens_of(*q, *heads);
  const double elements = queries * heads->queries * heads->v_depth;
  const double out = given_out != nullptr ? touched_bytes(*given_out) : elements * item_bytes(q->dtype);
  switch (part.role) {
    case KernelRole::unknown: return {.dtype = q->dtype};
    case KernelRole::initialise: return moves(0, 0, q->dtype);
    case KernelRole::fill: return moves(0, out, q->dtype);
    case KernelRole::combine:
      return moves(own.partial_bytes > 0 ? std::optional(own.partial_bytes) : std::nullopt, out, q->dtype);
    default: break;
  }
  const auto q_bytes = plus(dense_bytes(q), touched_or_zero(given(call, at.q_place)));
  work.ambiguous = true;
  work.written = own.partial_bytes > 0 ? own.partial_bytes : out;
  if (at.keys == Keys::ragged) work.read = plus(q_bytes, plus(dense_bytes(given(call, at.k)), dense_bytes(given(call, at.v))));
  auto seen = met_of(call, at, told, *heads, queries, own.tokens);
  if (!seen || own.window) return at.keys == Keys::ragged ? work : OpWork{.dtype = q->dtype};
  const auto before = at.window < 0 ? std::nullopt : number_at(call, static_cast<std::size_t>(at.window));
  if (before && *before >= 0) seen = within(*seen, own.tokens, queries, *before + 1);
  const double each = 2 * heads->queries * (heads->qk_depth + heads->v_depth);
  // One latent serves as key and as value. One that is quantised lies with its scales.
  const double latent = told.v_depth >= 0 ? from_back(*given(call, at.k), 1) : heads->qk_depth;
  const double values = at.keys == Keys::latent ? latent : heads->cache_values();
  work.flops = each * seen->pairs;
  work.flops_causal = each * seen->kept;
  if (at.keys != Keys::ragged) work.read = plus(q_bytes, seen->keys * values * heads->key_item);
  return work;
}

template <At at>
OpWork work_at(const OpCall& c, const Part& p) {
  return paged(c, p, at);
}
template <At at>
constexpr OpFormula row(std::string_view op) {
  return {.op = op, .family = OpFamily::attention, .work = work_at<at>, .positions = at};
}

template <At at, int v_depth, int picked = -1>
OpWork told_work_at(const OpCall& c, const Part& p) {
  return paged(c, p, at, {.v_depth = v_depth, .picked = picked});
}
// (q, latents, depth of a value, lengths, pages, scale, causal, plan, plan, [8 bits, picked keys,] ..). The first releases have
// no values behind the latents, and the depth one place on.
OpWork flash_mla(const OpCall& c, const Part& p) {
  constexpr At kAt{.keys = Keys::latent, .q = 0, .k = 1, .v = -1};
  return number_at(c, 2) ? told_work_at<kAt, 2, 10>(c, p) : told_work_at<kAt, 3>(c, p);
}
constexpr OpFormula flash_mla_row(std::string_view op) {
  return {.op = op,
          .family = OpFamily::attention,
          .work = flash_mla,
          .positions = At{.keys = Keys::latent, .q = 0, .k = 1, .v = -1}};
}

constexpr At kFlash3{.keys = Keys::paged, .out = 6, .longest = 13, .sequences = 11, .window = 25};
constexpr At kRocm{.keys = Keys::blocks, .q = 4, .k = 5, .v = 6, .out = 0, .longest = 13, .sequences = 10};

// FlashInfer: (workspace, workspace, plan, q, k, v, indices .., out, lse, [mask,] layout, window, ..)
constexpr At kInferDecode{
    .keys = Keys::paged, .q = 3, .k = 4, .v = 5, .out = 9, .sequences = 8, .layout = 11, .pages = 7, .window = 12};
constexpr At kInferPaged{
    .keys = Keys::paged, .q = 3, .k = 4, .v = 5, .out = 10, .sequences = 9, .layout = 13, .pages = 8, .window = 14};
constexpr At kInferRagged{
    .keys = Keys::ragged, .q = 3, .k = 4, .v = 5, .out = 8, .layout = 11, .ends = 6, .causal = 10, .window = 12};
constexpr At kInferSingle{.keys = Keys::ragged, .out = 4, .layout = 7, .causal = 6, .window = 8};
constexpr At kInferSingleDecode{.keys = Keys::ragged, .out = 4, .layout = 6, .window = 7};
constexpr At kInferLatent{.keys = Keys::latent, .q = 3, .k = 5, .v = -1, .out = 8, .q_place = 4, .k_place = 6};
constexpr At kInferLatentDecode{.keys = Keys::latent,
                                .q = 3,
                                .k = 5,
                                .v = -1,
                                .out = 10,
                                .sequences = 9,
                                .pages = 8,
                                .window = 12,
                                .q_place = 4,
                                .k_place = 6};
// (out, scales, q, k, v, workspace, pages, lengths, longest, ..), caches with the heads first
constexpr At kGenDecode{.keys = Keys::blocks, .q = 2, .k = 3, .v = 4, .out = 0, .longest = 8, .sequences = 7, .window = 14};
constexpr At kGenContext{.keys = Keys::blocks, .q = 2, .k = 3, .v = 4, .out = 0, .longest = 9, .sequences = 7, .window = 16};

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
    row<At{.keys = Keys::paged, .out = 3, .longest = 11, .sequences = 6, .window = 16}>("_vllm_fa2_C::varlen_fwd"),
    row<kFlash3>("_vllm_fa3_C::fwd"),
    row<kFlash3>("sgl_kernel::fwd"),
    row<At{.keys = Keys::latent, .q = 0, .k = 1, .v = -1, .out = 16}>("aiter::mla_decode_stage1_asm_fwd"),
    row<At{.keys = Keys::latent, .q = 0, .k = 1, .v = -1, .out = 2}>("vllm::rocm_aiter_mla_decode_fwd"),
    row<At{.keys = Keys::latent, .q = 2, .k = 4, .v = -1, .out = 0, .q_place = 3}>("_C::sm100_cutlass_mla_decode"),
    row<At{.keys = Keys::latent, .q = 1, .k = 3, .v = -1, .out = 0, .q_place = 2}>("sgl_kernel::cutlass_mla_decode"),
    flash_mla_row("_flashmla_C::fwd_kvcache_mla"),
    flash_mla_row("_flashmla_C::dense_decode_fwd"),
    flash_mla_row("_flashmla_extension_C::fwd_kvcache_mla_fp8"),
    flash_mla_row("sgl_kernel::fwd_kvcache_mla"),
    flash_mla_row("sgl_kernel::fwd_kvcache_mla_fp8"),
    flash_mla_row("sgl_kernel::dense_decode_fwd"),

    row<kInferDecode>("batch_decode_with_kv_cache::run"),
    row<kInferDecode>("flashinfer_kernels::batch_decode_with_paged_kv_cache_run"),
    row<kInferPaged>("batch_prefill_with_kv_cache::paged_run"),
    row<kInferPaged>("batch_prefill_with_attention_sink_kv_cache::paged_run"),
    row<kInferPaged>("flashinfer_kernels::batch_prefill_with_paged_kv_cache_run"),
    row<kInferPaged>("flashinfer_kernels_sm90::batch_prefill_with_paged_kv_cache_sm90_run"),
    row<kInferRagged>("batch_prefill_with_kv_cache::ragged_run"),
    row<kInferRagged>("batch_prefill_with_attention_sink_kv_cache::ragged_run"),
    row<kInferRagged>("flashinfer_kernels::batch_prefill_with_ragged_kv_cache_run"),
    row<kInferRagged>("flashinfer_kernels_sm90::batch_prefill_with_ragged_kv_cache_sm90_run"),
    row<kInferSingle>("single_prefill_with_kv_cache::run"),
    row<kInferSingle>("flashinfer_kernels::single_prefill_with_kv_cache"),
    row<kInferSingle>("flashinfer_kernels_sm90::single_prefill_with_kv_cache_sm90"),
    row<kInferSingleDecode>("single_decode_with_kv_cache::run"),
    row<kInferLatent>("batch_mla_attention::run"),
    row<kInferLatentDecode>("batch_decode_mla_with_kv_cache::run"),
    row<kGenDecode>("fmha_gen::trtllm_paged_attention_decode"),
    row<kGenContext>("fmha_gen::trtllm_paged_attention_context"),
};

}  // namespace

std::span<const OpFormula> paged_attention_ops() { return kRows; }

}  // namespace ridge
