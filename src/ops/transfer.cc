// Ops of the libraries that serve models which move each of their tensors once: norms with what is fused to them, activations,
// quantisation, rotary embeddings, stores into a cache of keys and values, collectives, the choice of experts. No FLOPs by
// PyTorch's convention; what a row must say is which argument is read and which is written.
//
// Arguments as the libraries declare them: vLLM csrc/libtorch_stable/torch_bindings.cpp (_C, _C_cache_ops, _C_custom_ar),
// csrc/libtorch_stable/moe/torch_bindings.cpp (_moe_C), vllm/_aiter_ops.py (vllm::rocm_aiter_*),
// vllm/compilation/passes/fusion/allreduce_rms_fusion.py; SGLang sgl-kernel csrc/common_extension*.cc (sgl_kernel) and
// kernels/ops/kvcache/kvcache.py (sglang); AITER aiter/ops/{rmsnorm,norm,activation,quant,rope,cache,moe_op,topk,
// custom_all_reduce}.py; FlashInfer flashinfer/{norm,activation,rope,page}.py, comm/trtllm_ar.py, and as its modules of 0.2.1
// to 0.3 name them, csrc/flashinfer_{norm,rope,page,cascade}_ops.cu (norm, rope, page, cascade); Transformer Engine
// pytorch/attention (te_kv_cache, te_attention, te_softmax), to 1.13 pytorch/csrc/ts_fp8_op.cpp (tex_ts); TensorRT-LLM
// tensorrt_llm/_torch/custom_ops/{cpp,flashinfer}_custom_ops.py (trtllm); PyTorch torch/csrc/distributed/c10d/symm_mem
// (symm_mem). Collectives of vLLM and SGLang: vllm/distributed/parallel_state.py, srt/distributed/parallel_state.py.
#include <algorithm>

#include "base/lasting.h"
#include "ops/operands.h"

namespace ridge {
namespace {

// What is done with each argument, a letter each:
//   r  read                      w  written                      b  read and written in place
//   i  read; an index of rows: only as many rows of the tensors that are read or written in place count
//   t  a table of which the index picks rows
//   a  read as a whole, whatever the index: weights
//   c  a cache: written in its own type, as many elements as one of the tensors that are read, each in turn
//   C  the same, of all that are read
//   .  no tensor, or not touched
// Behind ">" the new results: a digit, like that argument; before it "q", its elements in a byte each; "p", in half a byte;
// "h", half as many elements. "~" at the end: a reading that fits, though more may move.
struct Access {
  char text[32] = {};
  template <std::size_t N>
  consteval Access(const char (&letters)[N]) {
    static_assert(N <= sizeof(text));
    std::copy_n(letters, N, text);
  }
  constexpr std::string_view arguments() const {
    return std::string_view(text).substr(0, std::string_view(text).find_first_of(">~"));
  }
  constexpr std::string_view results() const {
    const std::size_t mark = std::string_view(text).find('>');
    return mark == std::string_view::npos ? std::string_view() : std::string_view(text).substr(mark + 1);
  }
  constexpr bool ambiguous() const { return std::string_view(text).ends_with('~'); }
};

double rows_of(const TensorShape& t) { return t.sizes.empty() ? 1 : static_cast<double>(t.sizes[0]); }

class Transfer {
 public:
  Transfer(const OpCall& call, const Access& access) : call_(call), access_(access) {
    const std::size_t index = access.arguments().find('i');
    if (index != std::string_view::npos) index_ = tensor_at(call, index);
  }

  OpWork work(KernelRole role) {
    const std::string_view letters = access_.arguments();
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (const TensorShape* t = tensor_at(call_, i)) add(letters[i], *t);
    }
    if (!any_) return {.flops = 0};
    for (std::size_t i = 0; i < access_.results().size(); ++i) add_result(access_.results(), &i);
    if (role == KernelRole::initialise) return moves(0, 0, dtype_);
    if (role == KernelRole::fill) return moves(0, written_, dtype_);
    if (role == KernelRole::statistics) return moves(read_, 0, dtype_);
    OpWork work = moves(read_, written_, dtype_);
    work.ambiguous = access_.ambiguous();
    return work;
  }

 private:
  // Of a padded batch the index says how many rows count.
  double share(const TensorShape& t) const {
    if (index_ == nullptr || index_->sizes.size() != 1 || t.sizes.empty() || rows_of(t) <= 0) return 1;
    return std::min(numel(*index_) / rows_of(t), 1.0);
  }

  void add(char letter, const TensorShape& t) {
    const std::optional<double> bytes = touched(&t);
    if (!bytes && letter != '.') any_ = known_ = false;
    if (!known_ || letter == '.') return;
    any_ = true;
    if (dtype_ == DType::unknown && is_floating(t.dtype)) dtype_ = t.dtype;
    switch (letter) {
      case 'r':
        read_ += *bytes * share(t);
        sources_.push_back(numel(t) * share(t));
        break;
      case 'i':
      case 'a': read_ += *bytes; break;
      case 'w': written_ += *bytes; break;
      case 'b':
        read_ += *bytes * share(t);
        written_ += *bytes * share(t);
        break;
      case 't': read_ += *bytes * std::min(picks() / std::max(rows_of(t), 1.0), 1.0); break;
      case 'c':
      case 'C': store(letter == 'C', t); break;
      default: break;
    }
  }

  double picks() const { return index_ == nullptr ? 1 : numel(*index_); }

  void store(bool all, const TensorShape& cache) {
    double elements = 0;
    for (std::size_t i = all ? 0 : stored_; i < sources_.size() && (all || i == stored_); ++i) elements += sources_[i];
    ++stored_;
    written_ += elements * item_bytes(cache.dtype);
  }

  void add_result(std::string_view results, std::size_t* i) {
    const char form = results[*i];
    if (form == 'q' || form == 'p' || form == 'h') ++*i;
    if (*i >= results.size() || results[*i] < '0' || results[*i] > '9') return;
    const TensorShape* like = tensor_at(call_, static_cast<std::size_t>(results[*i] - '0'));
    if (like == nullptr) return;
    const double own = item_bytes(like->dtype);
    written_ += numel(*like) * (form == 'q' ? 1 : form == 'p' ? 0.5 : form == 'h' ? own / 2 : own);
  }

  const OpCall& call_;
  const Access& access_;
  const TensorShape* index_ = nullptr;
  std::vector<double> sources_;  // elements of what is read, in order
  std::size_t stored_ = 0;
  double read_ = 0, written_ = 0;
  DType dtype_ = DType::unknown;
  bool any_ = false, known_ = true;
};

template <Access access>
OpWork transfer(const OpCall& c, const Part& p) {
  return Transfer(c, access).work(p.role);
}

// (out, x, out scales, scale, ..) once; today (x, scale, flag) with new results, or with these as arguments.
OpWork scaled_fp4_quant(const OpCall& c, const Part& p) {
  if (tensor_at(c, 2) != nullptr) return transfer<"wrwr">(c, p);
  return tensor_at(c, 3) != nullptr ? transfer<"rr.ww">(c, p) : transfer<"rr>p0~">(c, p);
}

// Ops that move their arguments alike, under as many names as there are libraries.
struct Form {
  Formula work;
  std::string_view canonical;  // empty: what each one's own name says
  std::string_view ops;        // separated by blanks
};
template <Access access>
constexpr Form form(std::string_view canonical, std::string_view ops) {
  return {transfer<access>, canonical, ops};
}

constexpr std::string_view kRms = "rms_norm", kAddRms = "add_rms_norm", kSilu = "silu_and_mul", kGelu = "gelu_and_mul",
                           kRotary = "rotary_embedding", kStore = "store_kv_cache", kAllReduce = "all_reduce",
                           kTopK = "topk_softmax", kQuantise = "quantise", kSoftmax = "softmax",
                           kSoftmaxBackward = "softmax_backward";

constexpr Form kForms[] = {
    // norms: (out, x, weight, ..), or in place (x, residual, weight, ..)
    form<"wrr">(kRms,
                "_C::rms_norm sgl_kernel::rmsnorm sgl_kernel::gemma_rmsnorm flashinfer::rmsnorm "
                "flashinfer::gemma_rmsnorm aiter::rmsnorm aiter::rms_norm_cu norm::rmsnorm norm::gemma_rmsnorm"),
    form<"bbr">(kAddRms,
                "_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm sgl_kernel::gemma_fused_add_rmsnorm "
                "flashinfer::fused_add_rmsnorm flashinfer::gemma_fused_add_rmsnorm aiter::fused_add_rms_norm_cu "
                "norm::fused_add_rmsnorm norm::gemma_fused_add_rmsnorm trtllm::flashinfer_fused_add_rmsnorm "
                "trtllm::flashinfer_gemma_fused_add_rmsnorm"),
    form<"wrrr">(kRms, "_C::rms_norm_static_fp8_quant"),
    form<"wrbrr">(kAddRms, "_C::fused_add_rms_norm_static_fp8_quant trtllm::flashinfer_fused_add_rmsnorm_quant"),
    form<"wrrw.rb">(kRms, "_C::rms_norm_dynamic_per_token_quant _C::rms_norm_per_block_quant"),
    form<"rr>0">(kRms,
                 "aiter::rms_norm aiter::rmsnorm2d_fwd aiter::rmsnorm2d_fwd_ck vllm::rocm_aiter_rms_norm "
                 "trtllm::flashinfer_rmsnorm trtllm::flashinfer_gemma_rmsnorm tex_ts::rmsnorm_fwd_inf_ts"),
    form<"wrrwr">(kAddRms, "aiter::add_rmsnorm aiter::rmsnorm2d_fwd_with_add aiter::rmsnorm2d_fwd_with_add_ck"),
    form<"wrwr">(kRms, "aiter::rmsnorm_quant aiter::rmsnorm2d_fwd_with_dynamicquant_ck"),
    form<"wrrwwr">(kAddRms, "aiter::add_rmsnorm_quant aiter::rmsnorm2d_fwd_with_add_dynamicquant_ck"),
    form<"rrr>0">("layer_norm", "aiter::layer_norm aiter::layernorm2d_fwd tex_ts::layernorm_fwd_inf_ts"),
    form<"wrrwrr">("add_layer_norm", "aiter::layernorm2d_fwd_with_add"),
    form<"rrr>00">(kAddRms, "vllm::rocm_aiter_rmsnorm2d_fwd_with_add"),
    form<"rr>q0~">(kRms, "vllm::rocm_aiter_rmsnorm_fused_dynamic_quant vllm::rocm_aiter_rmsnorm_fp8_group_quant"),
    form<"rrr>q00~">(kAddRms,
                     "vllm::rocm_aiter_rmsnorm_fused_add_dynamic_quant vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant"),
    form<"rr.r>03~">(kAddRms, "vllm::rocm_aiter_triton_add_rmsnorm_pad"),
    form<"rr>q0">(kRms, "tex_ts::rmsnorm_fwd_fp8_inf_ts"),
    form<"rrr>q0">("layer_norm", "tex_ts::layernorm_fwd_fp8_inf_ts"),

    // activations: (out, x): one half of x gates the other
    form<"wr">(kSilu,
               "_C::silu_and_mul _C::mul_and_silu sgl_kernel::silu_and_mul flashinfer::silu_and_mul "
               "aiter::silu_and_mul aiter::swiglu_and_mul"),
    form<"wr">(kGelu,
               "_C::gelu_and_mul _C::gelu_tanh_and_mul sgl_kernel::gelu_and_mul sgl_kernel::gelu_tanh_and_mul "
               "flashinfer::gelu_and_mul flashinfer::gelu_tanh_and_mul aiter::gelu_and_mul aiter::gelu_tanh_and_mul"),
    form<"wr">(kSilu, "_C::silu_and_mul_with_clamp"),
    form<"wr">({}, "_C::fatrelu_and_mul _C::swigluoai_and_mul _C::relu_squared"),
    form<"wr">("gelu", "_C::gelu_new _C::gelu_fast _C::gelu_quick sgl_kernel::gelu_quick aiter::gelu_fast"),
    form<"wrr">(kSilu, "_C::silu_and_mul_quant aiter::scaled_silu_and_mul"),
    form<"wwrr">(kSilu, "_C::silu_and_mul_nvfp4_quant"),
    form<"wwrrrr~">(kSilu, "_C::silu_and_mul_scaled_fp4_experts_quant"),
    form<"wwrrr~">(kSilu, "_C::silu_and_mul_mxfp4_experts_quant"),
    form<"wrw">(kSilu, "_C::silu_and_mul_per_block_quant aiter::silu_and_mul_quant"),
    form<"r>h0">(kSilu, "trtllm::flashinfer_silu_and_mul"),
    form<"r>h0">(kGelu, "trtllm::flashinfer_gelu_tanh_and_mul"),

    // softmax: (x, [mask,] scale), (gradient, result, scale)
    form<"r>0">(kSoftmax,
                "te_softmax::scaled_softmax_fwd te_softmax::scaled_upper_triang_masked_softmax_fwd "
                "te_softmax::scaled_aligned_causal_masked_softmax_fwd"),
    form<"rr>0">(kSoftmaxBackward,
                 "te_softmax::scaled_softmax_bwd te_softmax::scaled_masked_softmax_bwd "
                 "te_softmax::scaled_upper_triang_masked_softmax_bwd "
                 "te_softmax::scaled_aligned_causal_masked_softmax_bwd"),
    form<"rr>0">(kSoftmax, "te_softmax::scaled_masked_softmax_fwd"),

    // quantisation: (out, x, scale), or (x, out, scale)
    form<"wrr">(kQuantise, "_C::static_scaled_fp8_quant aiter::static_per_tensor_quant"),
    form<"wrb">(kQuantise, "_C::dynamic_scaled_fp8_quant"),
    form<"wrwr">(kQuantise, "_C::dynamic_per_token_scaled_fp8_quant"),
    form<"wrrr">(kQuantise, "_C::static_scaled_int8_quant"),
    form<"wrww">(kQuantise, "_C::dynamic_scaled_int8_quant"),
    form<"rww">(kQuantise,
                "_C::per_token_group_fp8_quant _C::per_token_group_fp8_quant_packed _C::per_token_group_quant_int8 "
                "sgl_kernel::sgl_per_token_group_quant_8bit sgl_kernel::sgl_per_token_group_quant_fp8 "
                "sgl_kernel::sgl_per_token_group_quant_int8 sgl_kernel::sgl_per_token_quant_fp8"),
    form<"rwb.">(kQuantise, "sgl_kernel::sgl_per_tensor_quant_fp8"),
    form<"wrw">(kQuantise,
                "aiter::dynamic_per_tensor_quant aiter::dynamic_per_token_scaled_quant "
                "aiter::dynamic_per_group_scaled_quant aiter::dynamic_per_group_scaled_quant_fp4"),
    form<"wrrw">(kQuantise, "aiter::smoothquant_fwd"),
    {scaled_fp4_quant, kQuantise, "_C::scaled_fp4_quant sgl_kernel::scaled_fp4_quant"},
    form<"wwrrrr~">(kQuantise, "_C::scaled_fp4_experts_quant"),
    form<"wwrrr~">(kQuantise, "_C::mxfp4_experts_quant"),
    form<"wrb">(kQuantise, "vllm::rocm_aiter_per_tensor_quant"),
    form<"wr">(kQuantise, "_C_cache_ops::convert_fp8"),
    form<"r>q0~">(kQuantise,
                  "vllm::rocm_aiter_group_fp8_quant vllm::rocm_aiter_per_token_quant "
                  "vllm::triton_per_token_group_quant_fp8 trtllm::fp8_quantize_1x128"),
    form<"rr>q0">(kQuantise, "tex_ts::cast_to_fp8_ts"),
    form<"rrw">(kQuantise, "tex_ts::cast_to_fp8_noalloc_ts"),
    form<"rr>p0~">(kQuantise, "trtllm::fp4_quantize"),

    // rotary embeddings: (positions, q, k, head size, cos and sin, ..)
    form<"ibb.t">(kRotary,
                  "_C::rotary_embedding sgl_kernel::rotary_embedding vllm::flashinfer_rotary_embedding "
                  "trtllm::flashinfer_apply_rope_with_cos_sin_cache_inplace"),
    form<"rrwwti">(kRotary, "flashinfer::apply_rope_pos_ids_cos_sin_cache rope::apply_rope_pos_ids_cos_sin_cache"),
    // queries and keys in place, normed before; the values that lie behind them are not touched
    form<"b.....aat.i~">("norm_rotary_embedding", "_C::fused_qk_norm_rope"),
    form<"b.....rr..r~">("norm_rotary_embedding", "sgl_kernel::fused_qk_norm_rope"),
    form<"rrwwr">(kRotary,
                  "flashinfer::apply_rope_pos_ids flashinfer::apply_llama31_rope_pos_ids rope::apply_rope_pos_ids "
                  "rope::apply_llama31_rope_pos_ids"),
    form<"rrwwrr">(kRotary, "rope::apply_rope rope::apply_llama31_rope"),
    form<"wrr">(kRotary, "aiter::rope_fwd_impl"),
    form<"wwrrr">(kRotary, "aiter::rope_2c_fwd_impl"),
    form<"wrrr">(kRotary, "aiter::rope_cached_fwd_impl"),
    form<"wwrrrr">(kRotary, "aiter::rope_cached_2c_fwd_impl"),
    form<"wrtti">(kRotary, "aiter::rope_cached_positions_fwd_impl"),
    form<"wwrrtti">(kRotary, "aiter::rope_cached_positions_2c_fwd_impl"),

    // caches: (k, v, k_cache, v_cache, slots, ..)
    form<"rrcci">(kStore,
                  "_C_cache_ops::reshape_and_cache _C_cache_ops::reshape_and_cache_flash sglang::store_cache "
                  "aiter::reshape_and_cache aiter::reshape_and_cache_flash"),
    form<"rrCi">(kStore, "_C_cache_ops::concat_and_cache_mla aiter::concat_and_cache_mla"),
    form<"rrcc..i">(kStore, "aiter::reshape_and_cache_with_pertoken_quant aiter::reshape_and_cache_with_block_quant"),
    form<"rrrrcc">(kStore,
                   "flashinfer::append_paged_kv_cache flashinfer::append_paged_mla_kv_cache page::append_paged_kv_cache "
                   "page::append_paged_mla_kv_cache"),
    form<"rrcc">(kStore, "te_kv_cache::copy_to_kv_cache"),
    form<"rrw">("concat", "_C_cache_ops::concat_mla_q sgl_kernel::concat_mla_absorb_q"),
    form<"wrr">("concat", "sgl_kernel::concat_mla_k"),
    form<"r>0">({}, "te_attention::fa_prepare_fwd"),
    form<"rrr>012">({}, "te_attention::fa_prepare_bwd"),

    // Collectives, as this device's own memory sees them: what it gives is read, what it gets is written. In the switch
    // (multimem) that is all; kernels that read their peers' buffers may read more than once, and stage in further buffers.
    form<"b">(kAllReduce, "symm_mem::multimem_all_reduce_"),
    form<"b~">(kAllReduce, "symm_mem::two_shot_all_reduce_ sglang::inplace_all_reduce"),
    form<"r>0~">(kAllReduce, "symm_mem::one_shot_all_reduce vllm::all_reduce sglang::outplace_all_reduce"),
    form<"r...w">(kAllReduce, "symm_mem::multimem_one_shot_all_reduce_out"),
    form<".rw~">(kAllReduce,
                 "_C_custom_ar::all_reduce _C_custom_ar::qr_all_reduce sgl_kernel::all_reduce "
                 "sgl_kernel::all_reduce_reg sgl_kernel::qr_all_reduce sgl_kernel::deterministic_all_reduce_reg "
                 "aiter::all_reduce"),
    form<".r.w~">(kAllReduce, "sgl_kernel::all_reduce_unreg sgl_kernel::deterministic_all_reduce_unreg"),
    form<".rw~">("reduce_scatter", "aiter::reduce_scatter"),
    form<".rw~">("all_gather", "aiter::all_gather_reg"),
    form<".rrwwr~">("all_reduce_add_rms_norm", "aiter::fused_allreduce_rmsnorm"),
    form<"rrr>01~">("all_reduce_add_rms_norm", "vllm::rocm_aiter_fused_allreduce_rmsnorm"),
    form<"rbr......w~">("all_reduce_add_rms_norm", "vllm::flashinfer_trtllm_fused_allreduce_norm"),
    form<"r..........wrwwwwr~">("all_reduce_add_rms_norm", "flashinfer::trtllm_allreduce_fusion"),
    form<"wr~">("all_gather", "sglang::reg_all_gather_into_tensor"),
    form<"wr~">("reduce_scatter", "sglang::reg_reduce_scatter_tensor"),
    // (x, residual, weight, scale, bias, workspace, ..): what is given besides x says what is fused; sums alone without
    form<"rrr.r>01~">("all_reduce_add_rms_norm", "trtllm::allreduce"),
    form<"rrr>02~">("all_reduce_add_rms_norm", "trtllm::mnnvl_fusion_allreduce"),
    form<"rr.rrr>05~">("all_reduce_add_rms_norm", "trtllm::moe_allreduce"),

    // the choice of experts, and what is made of their results
    form<"wwwr.r">(kTopK, "_moe_C::topk_softmax _moe_C::topk_sigmoid"),
    form<"wwr..r">(kTopK, "sgl_kernel::topk_softmax"),
    form<"wwr.r">(kTopK, "sgl_kernel::topk_sigmoid"),
    form<"wwwr">(kTopK, "aiter::topk_softmax aiter::topk_softmax_asm vllm::rocm_aiter_topk_softmax"),
    form<"wwr">(kTopK, "aiter::topk_sigmoid vllm::rocm_aiter_topk_sigmoid"),
    form<"rrww">(kTopK,
                 "aiter::biased_grouped_topk_hip aiter::moe_fused_gate aiter::_moe_fused_gate "
                 "vllm::rocm_aiter_biased_grouped_topk"),
    form<"rww">(kTopK, "aiter::grouped_topk vllm::rocm_aiter_grouped_topk"),
    form<"r..www">("moe_align", "_moe_C::moe_align_block_size"),
    form<"r..wwww">("moe_align", "sgl_kernel::moe_align_block_size aiter::moe_align_block_size"),
    form<"rrwwww">("moe_align", "aiter::moe_sorting_fwd aiter::moe_sorting_opus_fwd"),
    form<"rw">("moe_sum", "_moe_C::moe_sum sgl_kernel::moe_sum sgl_kernel::moe_sum_reduce aiter::moe_sum"),
    form<"riw">({}, "_moe_C::shuffle_rows sgl_kernel::shuffle_rows"),
    form<"rrrr.w">("moe_sum", "_moe_C::moe_unpermute"),
    form<"rwrr">("moe_sum", "sgl_kernel::apply_shuffle_mul_sum"),
    form<"rr>0">({}, "_C::permute_cols"),
    form<"wwrrrr">("merge_attention", "_C::merge_attn_states"),
    form<"rrrrww">("merge_attention", "sgl_kernel::merge_state_v2 cascade::merge_state"),
    form<"bbrr">("merge_attention", "cascade::merge_state_in_place"),
    form<"rrww">("merge_attention", "cascade::merge_states"),

    // logits: what sampling does to them before it draws
    form<"brrr">({}, "_C::apply_repetition_penalties_"),
    form<"rwr~">({}, "sgl_kernel::top_k_renorm_probs sgl_kernel::top_p_renorm_probs"),
};

}  // namespace

// A row for each name of each form.
std::span<const OpFormula> transfer_ops() {
  static const auto& rows = lasting<std::vector<OpFormula>>([] {
    std::vector<OpFormula> all;
    for (const Form& each : kForms) {
      for (std::size_t at = 0; at < each.ops.size();) {
        const std::size_t end = std::min(each.ops.find(' ', at), each.ops.size());
        all.push_back({.op = each.ops.substr(at, end - at),
                       .family = OpFamily::transfer,
                       .work = each.work,
                       .canonical = each.canonical});
        at = end + 1;
      }
    }
    return all;
  }());
  return rows;
}

}  // namespace ridge
