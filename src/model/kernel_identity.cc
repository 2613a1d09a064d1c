#include "model/kernel_identity.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/hash.h"
#include "model/kernel_name.h"
#include "ops/known_ops.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::string_view kCategoryNames[] = {
    "triton_pointwise",
    "triton_reduction",
    "triton_persistent_reduction",
    "triton_template",
    "triton_foreach",
    "triton_split_scan",
    "triton_user",
    "triton_other",
    "gemm",
    "conv",
    "attention",
    "norm",
    "elementwise",
    "reduction",
    "layout",
    "optimizer",
    "comm",
    "memcpy",
    "memset",
    "other",
};
static_assert(std::size(kCategoryNames) == kCategories);

// Where a rule's pattern is looked for: `head` is the name before its template and parameters, `text` the name with its template.
enum class In : std::uint8_t { head_start, head, text };

struct NameRule {
  In in;
  std::string_view pattern;
  Category category;
  std::string_view library;
  std::string_view family = {};  // what the label begins with, before the functor; empty: the label is the short name
  bool helper = false;
};

using enum Category;

// The first rule that fits decides. Within a group the special stands before the general.
constexpr NameRule kNameRules[] = {
    // Inductor
    {In::head_start, "triton_poi_", triton_pointwise, "inductor"},
    {In::head_start, "triton_red_", triton_reduction, "inductor"},
    {In::head_start, "triton_per_", triton_persistent_reduction, "inductor"},
    {In::head_start, "triton_tem_", triton_template, "inductor"},
    {In::head_start, "triton_for_", triton_foreach, "inductor"},
    {In::head_start, "triton_spl_", triton_split_scan, "inductor"},
    {In::head_start, "triton_", triton_other, "inductor"},
    {In::head_start, "cutedsl_", gemm, "inductor"},

    // communication
    {In::head_start, "nccl", comm, "nccl"},
    {In::head_start, "rccl", comm, "rccl"},
    {In::head_start, "mscclKernel", comm, "msccl"},
    {In::head, "cross_device_reduce", comm, "vllm"},
    {In::head, "multimem_", comm, "symm_mem"},
    {In::head, "one_shot_all_reduce", comm, "symm_mem"},
    {In::head, "two_shot_all_reduce", comm, "symm_mem"},
    {In::head, "symmetric_memory", comm, "symm_mem"},
    {In::head, "symm_mem", comm, "symm_mem"},
    {In::head, "allreduce", comm, ""},
    {In::head, "all_reduce", comm, ""},
    {In::head, "all_gather", comm, ""},
    {In::head, "reduce_scatter", comm, ""},
    {In::head, "quick_reduce", comm, "vllm"},
    {In::head, "nvshmem", comm, "nvshmem"},
    {In::head_start, "deep_ep::", comm, "deep_ep"},

    // attention
    {In::head, "reshape_and_cache", layout, "vllm"},
    {In::head, "paged_attention", attention, "vllm"},
    {In::head, "unified_attention", attention, "vllm"},
    {In::head_start, "reduce_segments", attention, "vllm"},
    {In::head_start, "cudnn_generated_fort_native_sdpa", attention, "cudnn"},
    {In::head, "flash_bwd_convert_dq", attention, "flash", {}, true},
    {In::head, "flash_bwd_dot_do_o", attention, "flash", {}, true},
    {In::head, "flash_fwd", attention, "flash"},
    {In::head, "flash_bwd", attention, "flash"},
    {In::head, "flash_attn", attention, "flash"},
    {In::text, "FlashAttn", attention, "flash"},
    {In::head_start, "fmha_cutlass", attention, "efficient"},
    {In::text, "AttentionKernel", attention, "efficient"},
    {In::text, "AttentionBackwardKernel", attention, "efficient"},
    {In::text, "Fmha", attention, "ck"},
    {In::head_start, "fmhaSm", attention, "trtllm"},
    {In::head, "fmha", attention, "aiter"},
    {In::head, "mha_fwd", attention, ""},
    {In::head, "mha_bwd", attention, ""},
    {In::head, "attn_fwd", attention, "aotriton"},
    {In::head, "attn_bwd", attention, "aotriton"},
    {In::head, "bwd_kernel_dk_dv", attention, "aotriton"},
    {In::head, "bwd_kernel_dq", attention, "aotriton"},
    {In::head, "bwd_preprocess", attention, "aotriton", {}, true},
    {In::head, "mla_", attention, "aiter"},
    {In::head, "flashinfer", attention, "flashinfer"},

    // convolutions and what belongs to them
    {In::text, "init_device_workspace", conv, "cudnn", {}, true},
    {In::head, "computeOffsetsKernel", conv, "cudnn", {}, true},
    {In::head, "BOffsetsKernel", conv, "cudnn", {}, true},
    {In::head, "SplitKOffsetsKernel", conv, "cudnn", {}, true},
    {In::head, "generateWinogradTiles", conv, "cudnn", {}, true},
    {In::head, "nchwToNhwc", layout, "cudnn", {}, true},
    {In::head, "nhwcToNchw", layout, "cudnn", {}, true},
    {In::head, "nchwToFoldedNhwc", layout, "cudnn", {}, true},
    {In::head, "foldedNhwcToNchw", layout, "cudnn", {}, true},
    {In::head, "convertTensor", layout, "cudnn", {}, true},
    {In::head, "scalePackedTensor", layout, "cudnn", {}, true},
    {In::head, "scaleTensor", layout, "cudnn", {}, true},
    {In::head, "nhwcAddPadding", layout, "cudnn", {}, true},
    {In::head, "kern_precompute_indices", conv, "cudnn", {}, true},
    {In::head, "batched_transpose_", layout, "miopen", {}, true},
    {In::head_start, "transpose_NCHW2CNHW", layout, "miopen", {}, true},
    {In::head_start, "transpose_CNHW2NCHW", layout, "miopen", {}, true},
    {In::head_start, "SubTensorOp", layout, "miopen", {}, true},
    {In::head_start, "Op1dTensor", layout, "miopen", {}, true},
    {In::head_start, "Op2dTensor", layout, "miopen", {}, true},
    {In::head_start, "Op4dTensor", layout, "miopen", {}, true},
    {In::head, "Im2Col", layout, "miopen", {}, true},
    {In::head, "im2col", layout, "aten", {}, true},
    {In::head, "col2im", layout, "aten", {}, true},
    {In::head, "vol2col", layout, "aten", {}, true},
    {In::head, "fft2d_", conv, "cudnn", {}, true},
    {In::head, "flip_filter", conv, "cudnn", {}, true},
    {In::head, "bn_fw", norm, "cudnn"},
    {In::head, "bn_bw", norm, "cudnn"},
    {In::head, "xmma_fprop", conv, "cudnn"},
    {In::head, "xmma_dgrad", conv, "cudnn"},
    {In::head, "xmma_wgrad", conv, "cudnn"},
    {In::head, "scudnn", conv, "cudnn"},
    {In::head, "hcudnn", conv, "cudnn"},
    {In::head, "winograd", conv, "cudnn"},
    {In::head, "implicit_convolve", conv, "cudnn"},
    {In::head, "convolve_common_engine", conv, "cudnn"},
    {In::head, "wgrad_alg", conv, "cudnn"},
    {In::head, "dgrad_engine", conv, "cudnn"},
    {In::head, "wgrad2d", conv, "cudnn"},
    {In::head, "dgrad2d", conv, "cudnn"},
    {In::head, "fprop", conv, "cudnn"},
    {In::text, "ReduceSplitK", gemm, "cutlass", {}, true},
    {In::text, "fprop_", conv, "cutlass"},
    {In::text, "dgrad_", conv, "cutlass"},
    {In::text, "wgrad_", conv, "cutlass"},
    {In::text, "ImplicitGemmConvolution", conv, "cutlass"},
    {In::head_start, "igemm_fwd_", conv, "miopen"},
    {In::head_start, "igemm_bwd_", conv, "miopen"},
    {In::head_start, "igemm_wrw_", conv, "miopen"},
    {In::head_start, "miopenSp3AsmConv", conv, "miopen"},
    {In::head_start, "miopenGcnAsmConv", conv, "miopen"},
    {In::head_start, "MIOpenConv", conv, "miopen"},
    {In::head, "naive_conv", conv, "miopen"},
    {In::head, "gcnAsmConv", conv, "miopen"},
    {In::head, "grouped_conv", conv, "ck"},
    {In::text, "GroupedConv", conv, "ck"},
    {In::head, "xdlops_bwd_weight", conv, "ck"},
    {In::head, "conv_depthwise", conv, "aten"},
    {In::head, "conv2d", conv, ""},
    {In::head, "conv1d", conv, ""},

    // norms
    {In::head_start, "MIOpenBatchNorm", norm, "miopen"},
    {In::head_start, "MIOpenLayerNorm", norm, "miopen"},
    {In::text, "Rmsnorm", norm, "ck"},
    {In::text, "Layernorm", norm, "ck"},
    {In::text, "rms_norm", norm, ""},
    {In::text, "RMSNorm", norm, ""},
    {In::text, "layer_norm", norm, "aten"},
    {In::text, "LayerNorm", norm, "aten"},
    {In::text, "batch_norm", norm, "aten"},
    {In::text, "BatchNorm", norm, "aten"},
    {In::text, "group_norm", norm, "aten"},
    {In::text, "GroupNorm", norm, "aten"},
    {In::head, "RowwiseMoments", norm, "aten"},
    {In::head, "GammaBeta", norm, "aten"},
    {In::head, "ComputeFusedParams", norm, "aten"},
    {In::head, "ComputeBackwardFusedParams", norm, "aten"},
    {In::head, "ComputeInternalGradients", norm, "aten"},

    // fbgemm's own kernels, whose namespace says "gemm" whatever they do
    {In::head_start, "fbgemm_gpu::permute_", layout, "fbgemm"},
    {In::head, "split_embedding_backward_codegen", optimizer, "fbgemm"},
    {In::head, "linearize_index", layout, "fbgemm"},
    {In::head, "_compute_FP8", elementwise, "fbgemm"},
    {In::head, "_FP8rowwise", elementwise, "fbgemm"},
    {In::head, "_to_FP8", elementwise, "fbgemm"},

    // matrix products
    {In::head, "splitKreduce", gemm, "cublas", {}, true},
    {In::head, "splitk_reduce", gemm, "cublas", {}, true},
    {In::head, "epilogue::impl::globalKernel", gemm, "cublas", {}, true},
    {In::head, "scal_kernel", gemm, "cublas", {}, true},
    {In::head, "_finalize_matmul", triton_user, "triton"},
    {In::head, "_matmul_ogs", triton_user, "triton"},
    {In::head_start, "Cijk_", gemm, "tensile"},
    {In::head_start, "nvjet_", gemm, "cublas"},
    {In::head, "xmma_gemm", gemm, "cublas"},
    {In::head, "xmma_sparse_gemm", gemm, "cublas"},
    {In::head_start, "cublas", gemm, "cublas"},
    {In::head, "gemv", gemm, "cublas"},
    {In::head, "gemmk1", gemm, "cublas"},
    {In::head, "gemmSN", gemm, "cublas"},
    {In::head, "gemmcn", gemm, "cublas"},
    {In::head, "gemm_kernel", gemm, ""},
    {In::head_start, "bmm_", gemm, "trtllm"},
    {In::head, "rocblas", gemm, "rocblas"},
    {In::head, "hipblas", gemm, "hipblaslt"},
    {In::head_start, "cutlass", gemm, "cutlass"},
    {In::head_start, "ck::", gemm, "ck"},
    {In::head_start, "ck_tile::", gemm, "ck"},
    {In::head, "sgemm", gemm, "cublas"},
    {In::head, "dgemm", gemm, "cublas"},
    {In::head, "hgemm", gemm, "cublas"},
    {In::head, "cgemm", gemm, "cublas"},
    {In::head, "s16816", gemm, "cublas"},
    {In::head, "h16816", gemm, "cublas"},
    {In::head, "s1688", gemm, "cublas"},
    {In::head, "h1688", gemm, "cublas"},
    {In::head, "dot_kernel", gemm, "cublas"},
    {In::head, "reduce_1Block_kernel", gemm, "cublas"},
    {In::head, "gemm", gemm, ""},
    {In::head, "Gemm", gemm, ""},
    {In::head, "deep_gemm", gemm, "deep_gemm"},
    {In::head, "marlin", gemm, "marlin"},
    {In::head, "wvSplitK", gemm, "vllm"},

    // optimizers
    {In::text, "FusedOptimizerTensorListMetadata", optimizer, "aten", "optimizer"},
    {In::text, "FusedAdam", optimizer, "aten", "optimizer"},
    {In::text, "FusedSgd", optimizer, "aten", "optimizer"},
    {In::text, "FusedAdagrad", optimizer, "aten", "optimizer"},
    {In::text, "AdamFunctor", optimizer, "apex", "optimizer"},
    {In::text, "SGDFunctor", optimizer, "apex", "optimizer"},
    {In::text, "LAMB", optimizer, "apex", "optimizer"},

    // ATen: moving data
    {In::head, "CatArrayBatchedCopy", layout, "aten", "cat"},
    {In::text, "direct_copy_kernel", layout, "aten", "copy"},
    {In::text, "copy_kernel", layout, "aten", "copy"},
    {In::head, "index_elementwise_kernel", layout, "aten", "index"},
    {In::head, "vectorized_gather", layout, "aten"},
    {In::head, "scatter_gather", layout, "aten", "scatter_gather"},
    {In::head, "indexSelect", layout, "aten"},
    {In::head, "indexFunc", layout, "aten"},
    {In::head, "index_select", layout, "aten"},
    {In::head, "indexing_backward", layout, "aten"},
    {In::head, "rotary_embedding", elementwise, "vllm"},
    {In::head, "embedding", layout, ""},
    {In::head, "krn_partial", layout, "aten"},
    {In::head, "compute_grad_weight", layout, "aten"},
    {In::head, "compute_num_of_partial_segments", layout, "aten"},
    {In::head, "sum_and_scatter", layout, "aten"},
    {In::head, "triu_tril", layout, "aten"},
    {In::head, "transpose", layout, ""},
    {In::head, "permute", layout, ""},
    {In::head, "roll_cuda", layout, "aten"},
    {In::head, "flip_", layout, "aten"},
    {In::head, "upsample", layout, "aten"},
    {In::head, "reflection_pad", layout, "aten"},
    {In::head, "lacpy", layout, "cusolver", {}, true},
    {In::head, "copy_info_kernel", layout, "cusolver", {}, true},
    {In::head, "copy_page_indices", layout, "vllm"},

    // ATen: reducing
    {In::head, "softmax", reduction, "aten"},
    {In::head, "SoftMax", reduction, "aten"},
    {In::head, "Softmax", reduction, "aten"},
    {In::head, "reduce_kernel", reduction, "aten", "reduce"},
    {In::head, "nll_loss", reduction, "aten"},
    {In::head, "pool", reduction, "aten"},
    {In::head, "DeviceReduce", reduction, "cub"},
    {In::head, "DeviceSegmentedReduce", reduction, "cub"},
    {In::head, "DeviceScan", reduction, "cub"},
    {In::head, "DeviceCompact", reduction, "cub"},
    {In::head, "DeviceUniqueByKey", reduction, "cub"},
    {In::head, "DeviceSelect", reduction, "cub"},
    {In::head, "tensor_kernel_scan", reduction, "aten"},
    {In::head, "LpNormFunctor", reduction, "aten"},
    {In::text, "LpNormFunctor", reduction, "aten", "foreach"},
    {In::head, "lpnorm_cleanup", reduction, "aten"},
    {In::head, "lpmax_cleanup", reduction, "aten"},

    // ATen: element by element
    {In::head, "multi_tensor_apply_kernel", elementwise, "aten", "foreach"},
    {In::head, "distribution_", elementwise, "aten", "random"},
    {In::head, "dropout", elementwise, "aten"},
    {In::head, "elementwise_kernel", elementwise, "aten", "elementwise"},
    {In::head, "act_and_mul", elementwise, "vllm"},
    {In::head, "quant", elementwise, ""},
    {In::head, "Tensor_Op", elementwise, ""},
    {In::head, "_offsets_range", elementwise, "fbgemm"},
    {In::head, "scaled_fp8", elementwise, "vllm"},

    // known, and none of the above
    {In::head, "moe::", other, "trtllm"},
    {In::head, "DeviceRadixSort", other, "cub"},
    {In::head, "RadixSort", other, "cub"},
    {In::head, "DeviceMergeSort", other, "cub"},
    {In::head, "bitonicSort", other, "aten"},
    {In::head, "gatherTopK", other, "aten"},
    {In::head, "geqr2", other, "cusolver"},
    {In::head, "larf", other, "cusolver"},
    {In::head, "orgqr", other, "cusolver"},
    {In::head, "at::native::", other, "aten"},
    {In::head_start, "fbgemm_gpu::", other, "fbgemm"},
    {In::head_start, "vllm::", other, "vllm"},
    {In::head_start, "aiter::", other, "aiter"},
};

// What the launching op says where the kernel's name alone is not enough.
struct OpRule {
  std::string_view op_has;
  Category from;
  Category to;
};
constexpr OpRule kOpRules[] = {
    {"conv", gemm, conv},  // cuDNN and MIOpen use plain GEMM kernels
    {"attention", other, attention},
    {"_fused_adam", elementwise, optimizer},
    {"_fused_sgd", elementwise, optimizer},
};

const NameRule* find_rule(const KernelName& name) {
  const auto fits = [&](const NameRule& rule) {
    switch (rule.in) {
      case In::head_start: return name.head.starts_with(rule.pattern);
      case In::head: return name.head.find(rule.pattern) != std::string::npos;
      default: return name.text.find(rule.pattern) != std::string::npos;
    }
  };
  const NameRule* rule = std::find_if(std::begin(kNameRules), std::end(kNameRules), fits);
  return rule == std::end(kNameRules) ? nullptr : rule;
}

// "triton_poi_fused__to_copy_add_3" -> "_to_copy_add". Old releases end the name in "_0d1d2de" and the like.
std::string_view fused_part(std::string_view name) {
  const std::size_t fused = name.find("_fused_");
  if (fused == std::string_view::npos) return {};
  std::string_view part = name.substr(fused + 7);
  while (!part.empty()) {
    const std::size_t underscore = part.rfind('_');
    const std::string_view tail = part.substr(underscore == std::string_view::npos ? 0 : underscore + 1);
    if (tail.empty() || tail.find_first_not_of("0123456789dce") != std::string_view::npos || tail[0] < '0' || tail[0] > '9')
      break;
    part = part.substr(0, underscore == std::string_view::npos ? 0 : underscore);
  }
  return part;
}

// "triton_" and "triton__0d1d2d3de": a name that tells nothing.
bool is_short_triton(std::string_view name) {
  return name.starts_with("triton_") && name.find_first_not_of("_0123456789dce", 6) == std::string_view::npos;
}

KernelIdentity inductor_identity(std::string_view name, const NameRule& rule) {
  KernelIdentity identity{rule.category, rule.library, std::string(name), {}, false};
  identity.fused_ops = split_op_names(fused_part(name));
  return identity;
}

// A Python function's name: what a Triton kernel of the user has.
bool looks_like_python(const KernelName& name) {
  return name.plain && !name.base.empty() && (name.base[0] < '0' || name.base[0] > '9');
}

KernelIdentity user_triton(std::string_view name) { return {triton_user, "triton", std::string(name), {}, false}; }

LaunchHint hint_of(const Trace& trace, const CallTree& tree, const OpTable& ops_table, NodeId launch, NodeId op) {
  if (op != kNoNode) {
    const auto backend = ops_table.kernel_backend.text(tree.event[op.value]);
    if (backend && trace.text(*backend) == "triton") return LaunchHint::triton_op;
  }
  if (launch == kNoNode) return LaunchHint::none;
  const std::string_view call = trace.text(trace.events.name(tree.event[launch.value]));
  return call.starts_with("cuLaunchKernel") || call == "hipModuleLaunchKernel" ? LaunchHint::driver_call : LaunchHint::none;
}

struct IdentityKey {
  StringId name, op;
  DeviceWork work;
  LaunchHint hint;
  bool operator==(const IdentityKey&) const = default;
};
struct IdentityKeyHash {
  std::size_t operator()(const IdentityKey& key) const {
    const std::uint64_t names = static_cast<std::uint64_t>(key.name.value) << 32 | key.op.value;
    return mix64(names,
                 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(key.hint) * 8 + static_cast<std::uint64_t>(key.work) * 64);
  }
};

}  // namespace

std::string_view name_of(Category category) { return kCategoryNames[static_cast<std::size_t>(category)]; }

KernelIdentity identify_kernel(std::string_view name, DeviceWork work, std::string_view op, LaunchHint hint) {
  if (work == DeviceWork::copy) return {memcpy, "", std::string(name), {}, false};
  if (work == DeviceWork::set) return {memset, "", std::string(name), {}, false};
  if (is_short_triton(name) && op.starts_with("triton_") && op != name) return identify_kernel(op, work, {}, hint);
  const KernelName parts = take_apart(name);
  const NameRule* rule = find_rule(parts);
  if (rule != nullptr && rule->library == "inductor") return inductor_identity(name, *rule);
  if (hint == LaunchHint::triton_op) return user_triton(name);
  const bool python = looks_like_python(parts) && work == DeviceWork::kernel;
  if (rule == nullptr && python && (hint == LaunchHint::driver_call || name.starts_with("_"))) return user_triton(name);
  KernelIdentity identity;
  if (rule != nullptr) {
    identity.category = rule->category;
    identity.library = rule->library;
    identity.helper = rule->helper;
    const bool general = parts.head.find("elementwise_kernel") != std::string::npos;  // its name tells less than its functor's
    const std::string_view family = rule->family.empty() && general ? "elementwise" : rule->family;
    const std::string functor = family.empty() ? "" : functor_of(parts.arguments);
    if (!functor.empty()) identity.label = std::string(family) + " " + functor;
  }
  if (identity.label.empty()) identity.label = short_name(parts);
  for (const OpRule& op_rule : kOpRules) {
    if (op_rule.from == identity.category && op.find(op_rule.op_has) != std::string_view::npos) identity.category = op_rule.to;
  }
  return identity;
}

KernelIdentities build_kernel_identities(const Trace& trace, const CallTree& tree, const LaunchLinks& links,
                                         const GraphReplays& replays) {
  const std::vector<EventId>& events = trace.of(EventClass::device_work);
  const OpTable ops_table = ops(trace);
  KernelIdentities result;
  result.of_row.resize(events.size());
  std::unordered_map<IdentityKey, std::uint32_t, IdentityKeyHash> known;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const NodeId recovered = replays.recovered_op(row).op;
    const NodeId op = recovered != kNoNode ? recovered : links.op[row];
    const IdentityKey key{trace.events.name(events[row]), op == kNoNode ? StringId{} : trace.events.name(tree.event[op.value]),
                          trace.kind(events[row]).work, hint_of(trace, tree, ops_table, links.launch[row], op)};
    const auto [it, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(result.identities.size()));
    if (is_new) result.identities.push_back(identify_kernel(trace.text(key.name), key.work, trace.text(key.op), key.hint));
    result.of_row[row] = it->second;
  }
  return result;
}

}  // namespace ridge
