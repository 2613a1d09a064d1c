// Ops of the libraries that serve models which move each of their tensors once: norms with what is fused to them, activations,
// quantisation, rotary embeddings, stores into a cache of keys and values, collectives, the choice of experts. No FLOPs by
// PyTorch's convention; what a row must say is which argument is read and which is written.
//
// Arguments as the libraries declare them: vLLM csrc/libtorch_stable/torch_bindings.cpp (_C, _C_cache_ops, _C_custom_ar),
// csrc/libtorch_stable/moe/torch_bindings.cpp (_moe_C), vllm/_aiter_ops.py (vllm::rocm_aiter_*),
// vllm/compilation/passes/fusion/allreduce_rms_fusion.py; SGLang sgl-kernel csrc/common_extension*.cc (sgl_kernel) and
// kernels/ops/kvcache/kvcache.py (sglang); AITER aiter/ops/{rmsnorm,norm,activation,quant,rope,cache,moe_op,topk,
// custom_all_reduce}.py; FlashInfer flashinfer/{norm,activation,rope,page}.py, comm/trtllm_ar.py; Transformer Engine
// pytorch/attention/custom_ops.py; PyTorch torch/csrc/distributed/c10d/symm_mem (symm_mem).
#include <algorithm>

#include "ops/operands.h"

namespace ridge {
namespace {

// What is done with each argument, a letter each:
//   r  read                      w  written                      b  read and written in place
//   i  read; an index of rows: only as many rows of the tensors that are read or written in place count
//   t  a table of which the index picks rows
//   c  a cache: written in its own type, as many elements as one of the tensors that are read, each in turn
//   C  the same, of all that are read
//   .  no tensor, or not touched
// Behind ">" the new results: a digit, like that argument; "q" and a digit, its elements in a byte each. "~" at the end: a
// reading that fits, though more may move.
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
      case 'i': read_ += *bytes; break;
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
    const bool in_bytes = results[*i] == 'q';
    if (in_bytes) ++*i;
    if (*i >= results.size() || results[*i] < '0' || results[*i] > '9') return;
    const TensorShape* like = tensor_at(call_, static_cast<std::size_t>(results[*i] - '0'));
    if (like == nullptr) return;
    written_ += numel(*like) * (in_bytes ? 1 : item_bytes(like->dtype));
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
template <Access access>
constexpr OpFormula row(std::string_view op, std::string_view canonical = {}) {
  return {.op = op, .family = OpFamily::transfer, .work = transfer<access>, .canonical = canonical};
}

constexpr std::string_view kRms = "rms_norm", kAddRms = "add_rms_norm", kSilu = "silu_and_mul", kGelu = "gelu_and_mul",
                           kRotary = "rotary_embedding", kStore = "store_kv_cache", kAllReduce = "all_reduce",
                           kTopK = "topk_softmax", kQuantise = "quantise";

constexpr OpFormula kRows[] = {
    // norms: (out, x, weight, ..), or in place (x, residual, weight, ..)
    row<"wrr">("_C::rms_norm", kRms),
    row<"bbr">("_C::fused_add_rms_norm", kAddRms),
    row<"wrrr">("_C::rms_norm_static_fp8_quant", kRms),
    row<"wrbrr">("_C::fused_add_rms_norm_static_fp8_quant", kAddRms),
    row<"wrrw.rb">("_C::rms_norm_dynamic_per_token_quant", kRms),
    row<"wrrw.rb">("_C::rms_norm_per_block_quant", kRms),
    row<"wrr">("sgl_kernel::rmsnorm", kRms),
    row<"bbr">("sgl_kernel::fused_add_rmsnorm", kAddRms),
    row<"wrr">("sgl_kernel::gemma_rmsnorm", kRms),
    row<"bbr">("sgl_kernel::gemma_fused_add_rmsnorm", kAddRms),
    row<"wrr">("flashinfer::rmsnorm", kRms),
    row<"bbr">("flashinfer::fused_add_rmsnorm", kAddRms),
    row<"wrr">("flashinfer::gemma_rmsnorm", kRms),
    row<"bbr">("flashinfer::gemma_fused_add_rmsnorm", kAddRms),
    row<"wrr">("aiter::rmsnorm", kRms),
    row<"wrr">("aiter::rms_norm_cu", kRms),
    row<"bbr">("aiter::fused_add_rms_norm_cu", kAddRms),
    row<"rr>0">("aiter::rms_norm", kRms),
    row<"rr>0">("aiter::rmsnorm2d_fwd", kRms),
    row<"rr>0">("aiter::rmsnorm2d_fwd_ck", kRms),
    row<"wrrwr">("aiter::add_rmsnorm", kAddRms),
    row<"wrrwr">("aiter::rmsnorm2d_fwd_with_add", kAddRms),
    row<"wrrwr">("aiter::rmsnorm2d_fwd_with_add_ck", kAddRms),
    row<"wrwr">("aiter::rmsnorm_quant", kRms),
    row<"wrrwwr">("aiter::add_rmsnorm_quant", kAddRms),
    row<"wrwr">("aiter::rmsnorm2d_fwd_with_dynamicquant_ck", kRms),
    row<"wrrwwr">("aiter::rmsnorm2d_fwd_with_add_dynamicquant_ck", kAddRms),
    row<"rrr>0">("aiter::layer_norm", "layer_norm"),
    row<"rrr>0">("aiter::layernorm2d_fwd", "layer_norm"),
    row<"wrrwrr">("aiter::layernorm2d_fwd_with_add", "add_layer_norm"),
    row<"rr>0">("vllm::rocm_aiter_rms_norm", kRms),
    row<"rrr>00">("vllm::rocm_aiter_rmsnorm2d_fwd_with_add", kAddRms),
    row<"rr>q0~">("vllm::rocm_aiter_rmsnorm_fused_dynamic_quant", kRms),
    row<"rrr>q00~">("vllm::rocm_aiter_rmsnorm_fused_add_dynamic_quant", kAddRms),
    row<"rr>q0~">("vllm::rocm_aiter_rmsnorm_fp8_group_quant", kRms),
    row<"rrr>q00~">("vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant", kAddRms),

    // activations: (out, x): one half of x gates the other
    row<"wr">("_C::silu_and_mul", kSilu),
    row<"wr">("_C::mul_and_silu", kSilu),
    row<"wr">("_C::gelu_and_mul", kGelu),
    row<"wr">("_C::gelu_tanh_and_mul", kGelu),
    row<"wr">("_C::fatrelu_and_mul"),
    row<"wr">("_C::swigluoai_and_mul"),
    row<"wr">("_C::gelu_new", "gelu"),
    row<"wr">("_C::gelu_fast", "gelu"),
    row<"wr">("_C::gelu_quick", "gelu"),
    row<"wrr">("_C::silu_and_mul_quant", kSilu),
    row<"wwrr">("_C::silu_and_mul_nvfp4_quant", kSilu),
    row<"wrw">("_C::silu_and_mul_per_block_quant", kSilu),
    row<"wr">("sgl_kernel::silu_and_mul", kSilu),
    row<"wr">("sgl_kernel::gelu_and_mul", kGelu),
    row<"wr">("sgl_kernel::gelu_tanh_and_mul", kGelu),
    row<"wr">("sgl_kernel::gelu_quick", "gelu"),
    row<"wr">("flashinfer::silu_and_mul", kSilu),
    row<"wr">("flashinfer::gelu_and_mul", kGelu),
    row<"wr">("flashinfer::gelu_tanh_and_mul", kGelu),
    row<"wr">("aiter::silu_and_mul", kSilu),
    row<"wr">("aiter::swiglu_and_mul", kSilu),
    row<"wr">("aiter::gelu_and_mul", kGelu),
    row<"wr">("aiter::gelu_tanh_and_mul", kGelu),
    row<"wr">("aiter::gelu_fast", "gelu"),
    row<"wrr">("aiter::scaled_silu_and_mul", kSilu),
    row<"wrw">("aiter::silu_and_mul_quant", kSilu),

    // quantisation: (out, x, scale), or (x, out, scale)
    row<"wrr">("_C::static_scaled_fp8_quant", kQuantise),
    row<"wrb">("_C::dynamic_scaled_fp8_quant", kQuantise),
    row<"wrwr">("_C::dynamic_per_token_scaled_fp8_quant", kQuantise),
    row<"wrrr">("_C::static_scaled_int8_quant", kQuantise),
    row<"wrww">("_C::dynamic_scaled_int8_quant", kQuantise),
    row<"rww">("_C::per_token_group_fp8_quant", kQuantise),
    row<"rww">("_C::per_token_group_quant_int8", kQuantise),
    row<"rww">("sgl_kernel::sgl_per_token_group_quant_8bit", kQuantise),
    row<"rww">("sgl_kernel::sgl_per_token_group_quant_fp8", kQuantise),
    row<"rww">("sgl_kernel::sgl_per_token_group_quant_int8", kQuantise),
    row<"rww">("sgl_kernel::sgl_per_token_quant_fp8", kQuantise),
    row<"rwb.">("sgl_kernel::sgl_per_tensor_quant_fp8", kQuantise),
    row<"wrr">("aiter::static_per_tensor_quant", kQuantise),
    row<"wrw">("aiter::dynamic_per_tensor_quant", kQuantise),
    row<"wrw">("aiter::dynamic_per_token_scaled_quant", kQuantise),
    row<"wrw">("aiter::dynamic_per_group_scaled_quant", kQuantise),
    row<"wrw">("aiter::dynamic_per_group_scaled_quant_fp4", kQuantise),
    row<"wrrw">("aiter::smoothquant_fwd", kQuantise),
    row<"r>q0~">("vllm::rocm_aiter_group_fp8_quant", kQuantise),
    row<"r>q0~">("vllm::rocm_aiter_per_token_quant", kQuantise),
    row<"r>q0~">("vllm::triton_per_token_group_quant_fp8", kQuantise),

    // rotary embeddings: (positions, q, k, head size, cos and sin, ..)
    row<"ibb.t">("_C::rotary_embedding", kRotary),
    row<"ibb.t">("sgl_kernel::rotary_embedding", kRotary),
    row<"ibb.t">("vllm::flashinfer_rotary_embedding", kRotary),
    row<"rrwwti">("flashinfer::apply_rope_pos_ids_cos_sin_cache", kRotary),
    row<"rrwwr">("flashinfer::apply_rope_pos_ids", kRotary),
    row<"rrwwr">("flashinfer::apply_llama31_rope_pos_ids", kRotary),
    row<"wrr">("aiter::rope_fwd_impl", kRotary),
    row<"wwrrr">("aiter::rope_2c_fwd_impl", kRotary),
    row<"wrrr">("aiter::rope_cached_fwd_impl", kRotary),
    row<"wwrrrr">("aiter::rope_cached_2c_fwd_impl", kRotary),
    row<"wrtti">("aiter::rope_cached_positions_fwd_impl", kRotary),
    row<"wwrrtti">("aiter::rope_cached_positions_2c_fwd_impl", kRotary),

    // caches: (k, v, k_cache, v_cache, slots, ..)
    row<"rrcci">("_C_cache_ops::reshape_and_cache", kStore),
    row<"rrcci">("_C_cache_ops::reshape_and_cache_flash", kStore),
    row<"rrCi">("_C_cache_ops::concat_and_cache_mla", kStore),
    row<"rrcci">("sglang::store_cache", kStore),
    row<"rrcci">("aiter::reshape_and_cache", kStore),
    row<"rrcci">("aiter::reshape_and_cache_flash", kStore),
    row<"rrcc..i">("aiter::reshape_and_cache_with_pertoken_quant", kStore),
    row<"rrcc..i">("aiter::reshape_and_cache_with_block_quant", kStore),
    row<"rrCi">("aiter::concat_and_cache_mla", kStore),
    row<"rrrrcc">("flashinfer::append_paged_kv_cache", kStore),
    row<"rrrrcc">("flashinfer::append_paged_mla_kv_cache", kStore),
    row<"rrcc">("te_kv_cache::copy_to_kv_cache", kStore),

    // Collectives, as this device's own memory sees them: what it gives is read, what it gets is written. In the switch
    // (multimem) that is all; kernels that read their peers' buffers may read more than once, and stage in further buffers.
    row<"b">("symm_mem::multimem_all_reduce_", kAllReduce),
    row<"b~">("symm_mem::two_shot_all_reduce_", kAllReduce),
    row<"r>0~">("symm_mem::one_shot_all_reduce", kAllReduce),
    row<"r...w">("symm_mem::multimem_one_shot_all_reduce_out", kAllReduce),
    row<".rw~">("_C_custom_ar::all_reduce", kAllReduce),
    row<".rw~">("_C_custom_ar::qr_all_reduce", kAllReduce),
    row<".rw~">("sgl_kernel::all_reduce", kAllReduce),
    row<".rw~">("sgl_kernel::all_reduce_reg", kAllReduce),
    row<".r.w~">("sgl_kernel::all_reduce_unreg", kAllReduce),
    row<".rw~">("sgl_kernel::qr_all_reduce", kAllReduce),
    row<".rw~">("aiter::all_reduce", kAllReduce),
    row<".rw~">("aiter::reduce_scatter", "reduce_scatter"),
    row<".rw~">("aiter::all_gather_reg", "all_gather"),
    row<".rrwwr~">("aiter::fused_allreduce_rmsnorm", "all_reduce_add_rms_norm"),
    row<"rbr......w~">("vllm::flashinfer_trtllm_fused_allreduce_norm", "all_reduce_add_rms_norm"),
    row<"r..........wrwwwwr~">("flashinfer::trtllm_allreduce_fusion", "all_reduce_add_rms_norm"),

    // the choice of experts, and what is made of their results
    row<"wwwr.r">("_moe_C::topk_softmax", kTopK),
    row<"wwwr.r">("_moe_C::topk_sigmoid", kTopK),
    row<"wwr..r">("sgl_kernel::topk_softmax", kTopK),
    row<"wwr.r">("sgl_kernel::topk_sigmoid", kTopK),
    row<"wwwr">("aiter::topk_softmax", kTopK),
    row<"wwwr">("aiter::topk_softmax_asm", kTopK),
    row<"wwr">("aiter::topk_sigmoid", kTopK),
    row<"rrww">("aiter::biased_grouped_topk_hip", kTopK),
    row<"rww">("aiter::grouped_topk", kTopK),
    row<"r..www">("_moe_C::moe_align_block_size", "moe_align"),
    row<"r..wwww">("sgl_kernel::moe_align_block_size", "moe_align"),
    row<"r..wwww">("aiter::moe_align_block_size", "moe_align"),
    row<"rrwwww">("aiter::moe_sorting_fwd", "moe_align"),
    row<"rw">("_moe_C::moe_sum", "moe_sum"),
    row<"rw">("sgl_kernel::moe_sum", "moe_sum"),
    row<"rw">("sgl_kernel::moe_sum_reduce", "moe_sum"),
    row<"rw">("aiter::moe_sum", "moe_sum"),
    row<"riw">("_moe_C::shuffle_rows"),
    row<"wwrrrr">("_C::merge_attn_states", "merge_attention"),
    row<"rrrrww">("sgl_kernel::merge_state_v2", "merge_attention"),
};

}  // namespace

std::span<const OpFormula> transfer_ops() { return kRows; }

}  // namespace ridge
