#include "cost/kernel_role.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>

namespace ridge {
namespace {

struct RoleRule {
  OpFamily family;
  std::string_view pattern;
  KernelRole role;
};

using enum OpFamily;

// The first row of the op's family whose pattern the name holds decides.
constexpr RoleRule kRules[] = {
    {gemm, "splitKreduce", KernelRole::combine},
    {gemm, "split_k_kernel", KernelRole::combine},
    {gemm, "splitk_reduce", KernelRole::combine},
    {gemm, "ReduceSplitK", KernelRole::combine},
    {gemm, "epilogue::impl::globalKernel", KernelRole::bias},
    {gemm, "scal_kernel", KernelRole::fill},
    {gemm, "FillFunctor", KernelRole::fill},
    {gemm, "init_device_workspace", KernelRole::initialise},
    {gemm, "reduce_1Block", KernelRole::initialise},
    {gemm, "prepare_grouped_gemm", KernelRole::initialise},
    {gemm, "prepare_group", KernelRole::initialise},
    {gemm, "elementwise_kernel", KernelRole::bias},

    {convolution, "init_device_workspace", KernelRole::initialise},
    {convolution, "computeOffsets", KernelRole::initialise},
    {convolution, "OffsetsKernel", KernelRole::initialise},
    {convolution, "kern_precompute_indices", KernelRole::initialise},
    {convolution, "generateWinogradTiles", KernelRole::initialise},
    {convolution, "nchwToNhwc", KernelRole::layout_in},
    {convolution, "nchwToFoldedNhwc", KernelRole::layout_in},
    {convolution, "nhwcToNchw", KernelRole::layout_out},
    {convolution, "foldedNhwcToNchw", KernelRole::layout_out},
    {convolution, "convertTensor", KernelRole::layout_in},
    {convolution, "nhwcAddPadding", KernelRole::layout_in},
    {convolution, "batched_transpose", KernelRole::layout_in},
    {convolution, "transpose_NCHW2CNHW", KernelRole::layout_in},
    {convolution, "transpose_CNHW2NCHW", KernelRole::layout_out},
    {convolution, "SubTensorOpWithCast", KernelRole::layout_in},
    {convolution, "tensorTransformGeneric", KernelRole::layout_in},
    {convolution, "SubTensorOpWithScalar", KernelRole::fill},
    {convolution, "im2col", KernelRole::layout_in},
    {convolution, "Im2Col", KernelRole::layout_in},
    {convolution, "vol2col", KernelRole::layout_in},
    {convolution, "col2im", KernelRole::layout_out},
    {convolution, "flip_filter", KernelRole::layout_in},
    {convolution, "fft2d_r2c", KernelRole::layout_in},
    {convolution, "fft2d_c2r", KernelRole::layout_out},
    {convolution, "winogradForwardData", KernelRole::layout_in},
    {convolution, "winogradForwardFilter", KernelRole::layout_in},
    {convolution, "winogradForwardOutput", KernelRole::layout_out},
    {convolution, "winogradWgradData", KernelRole::layout_in},
    {convolution, "winogradWgradDelta", KernelRole::layout_in},
    {convolution, "winogradWgradOutput", KernelRole::layout_out},
    {convolution, "execute_split_k_kernel", KernelRole::combine},
    {convolution, "splitKreduce", KernelRole::combine},
    {convolution, "_post_execute", KernelRole::combine},
    {convolution, "ReduceSplitK", KernelRole::combine},
    {convolution, "reduce_wgrad", KernelRole::combine},
    {convolution, "nhwc_reduce", KernelRole::combine},  // of the depthwise weight gradient
    {convolution, "scalePackedTensor", KernelRole::fill},
    {convolution, "scaleTensor", KernelRole::fill},
    {convolution, "FillFunctor", KernelRole::fill},
    {convolution, "dgrad", KernelRole::grad_input},
    {convolution, "bwd_data", KernelRole::grad_input},
    {convolution, "BwdData", KernelRole::grad_input},
    {convolution, "igemm_bwd", KernelRole::grad_input},
    {convolution, "backward_kernel", KernelRole::grad_input},  // ATen's depthwise: its weight's kernel is named grad_weight
    {convolution, "fprop", KernelRole::grad_input},  // a transposed convolution's backward; forward ops take it as main
    {convolution, "wgrad", KernelRole::grad_weight},
    {convolution, "igemm_wrw", KernelRole::grad_weight},
    {convolution, "bwd_weight", KernelRole::grad_weight},
    {convolution, "BwdWeight", KernelRole::grad_weight},
    {convolution, "grad_weight", KernelRole::grad_weight},
    {convolution, "elementwise_kernel", KernelRole::bias},

    {attention, "dot_do_o", KernelRole::dot_do_o},
    {attention, "bwd_preprocess", KernelRole::dot_do_o},
    {attention, "FlashAttnBwdPreprocess", KernelRole::dot_do_o},
    {attention, "convert_dq", KernelRole::convert_dq},
    {attention, "BwdPostprocessConvertdQ", KernelRole::convert_dq},
    {attention, "splitkv_combine", KernelRole::combine},
    {attention, "lean_reduction", KernelRole::combine},
    {attention, "FlashAttnFwdCombine", KernelRole::combine},
    {attention, "bwd_kernel_dk_dv", KernelRole::grad_key_value},
    {attention, "bwd_kernel_dq", KernelRole::grad_query},
    {attention, "prepare_varlen", KernelRole::initialise},
    {attention, "philox", KernelRole::initialise},
    {attention, "reduce_head", KernelRole::combine},
    {attention, "FillFunctor", KernelRole::fill},

    {norm, "RowwiseMoments", KernelRole::statistics},
    {norm, "ComputeInternalGradients", KernelRole::statistics},
    {norm, "FusedParams", KernelRole::parameters},
    {norm, "cuComputeGradGammaBeta", KernelRole::parameters},
    {norm, "GammaBeta", KernelRole::grad_weight},
    {norm, "reduce_statistics", KernelRole::parameters},
    {norm, "collect_statistics", KernelRole::statistics},
    {norm, "backward_reduce", KernelRole::statistics},
    {norm, "calc_invstd", KernelRole::parameters},
    {norm, "update_stats", KernelRole::parameters},
    {norm, "for_multi_outputs", KernelRole::parameters},
    {norm, "FinalMeanVariance", KernelRole::parameters},
    {norm, "FinalDScaleDBias", KernelRole::parameters},
    {norm, "MeanVariance", KernelRole::statistics},
    {norm, "DScaleDBias", KernelRole::statistics},
    {norm, "semiPersist", KernelRole::apply_kept},
    {norm, "bn_fw_tr_1C11_kernel", KernelRole::apply_twice},
    {norm, "bn_bw_1C11_kernel", KernelRole::apply_twice},
    {norm, "bn_fw_tr_mean", KernelRole::statistics},
    {norm, "FillFunctor", KernelRole::fill},

    {gather, "DeviceRadixSortOnesweep", KernelRole::index_helper},
    {gather, "RadixSortExclusiveSum", KernelRole::initialise},
    {gather, "RadixSortHistogram", KernelRole::statistics},
    {gather, "RadixSort", KernelRole::parameters},
    {gather, "ScanInit", KernelRole::initialise},
    {gather, "CompactInit", KernelRole::initialise},
    {gather, "DeviceScan", KernelRole::parameters},
    {gather, "UniqueByKey", KernelRole::parameters},
    {gather, "krn_partial", KernelRole::combine_helper},
    {gather, "compute_num_of_partial", KernelRole::combine_helper},
    {gather, "compute_grad_weight", KernelRole::grad_weight},
    {gather, "sum_and_scatter", KernelRole::combine},
    {gather, "FillFunctor", KernelRole::fill},

    {pooling, "FillFunctor", KernelRole::fill},
    {loss, "FillFunctor", KernelRole::fill},
    {loss, "size_average", KernelRole::combine},
    {loss, "reduce_kernel", KernelRole::combine},
    {pointwise, "FillFunctor", KernelRole::fill},
    {reduction, "ScanInit", KernelRole::initialise},
    {reduction, "CompactInit", KernelRole::initialise},
    {reduction, "SingleTile", KernelRole::parameters},

    {sort, "Histogram", KernelRole::statistics},
    {sort, "ExclusiveSum", KernelRole::initialise},
    {sort, "ScanInit", KernelRole::initialise},
    {sort, "CompactInit", KernelRole::initialise},
    {sort, "fill_", KernelRole::fill},
    {sort, "FillFunctor", KernelRole::fill},
    {sort, "elementwise_kernel_with_index", KernelRole::fill},
    {sort, "ScanByKey", KernelRole::index_helper},
    {sort, "SingleTile", KernelRole::index_helper},
    {sort, "computeBlockwise", KernelRole::index_helper},
    {sort, "computeDigit", KernelRole::index_helper},
    {sort, "bitonicSort", KernelRole::index_helper},
    {sort, "BlockSort", KernelRole::index_helper},

    {recurrent, "elemWiseRNNcell", KernelRole::apply},
    {recurrent, "elementWise_bp1", KernelRole::apply},
    {recurrent, "elementWise_bp2", KernelRole::statistics},
    {recurrent, "bidirectional_accum", KernelRole::combine},

    {optimizer, "cleanup", KernelRole::combine},
    {optimizer, "FillFunctor", KernelRole::initialise},
};

// Tokens of a name that say in which type it computes; the special before the general.
struct TypeToken {
  std::string_view token;
  DType dtype;
};
constexpr TypeToken kTypeTokens[] = {
    {"tf32", DType::tf32},      {"nvjet_sm90_tst", DType::bf16},
    {"nvjet_tst", DType::bf16}, {"nvjet_sm90_hsh", DType::f16},
    {"nvjet_hsh", DType::f16},  {"nvjet_sm90_qq", DType::f8},
    {"nvjet_qq", DType::f8},    {"nvjet_sm90_oo", DType::f4},
    {"e4m3", DType::f8},        {"e5m2", DType::f8},
    {"Float8", DType::f8},      {"fp8", DType::f8},
    {"BFloat16", DType::bf16},  {"bfloat16", DType::bf16},
    {"bf16", DType::bf16},      {"_BBS_", DType::bf16},
    {"_B_BS_", DType::bf16},    {"c10::Half", DType::f16},
    {"__half", DType::f16},     {"half_t", DType::f16},
    {"f16f16", DType::f16},     {"h16816", DType::f16},
    {"h1688", DType::f16},      {"h884", DType::f16},
    {"s884", DType::f16},       {"hgemm", DType::f16},
    {"_HHS_", DType::f16},      {"_H_HS_", DType::f16},
    {"f64f64", DType::f64},     {"dgemm", DType::f64},
    {"d884", DType::f64},       {"double", DType::f64},
    {"s8s8", DType::i8},        {"i8816", DType::i8},
    {"igemm_int8", DType::i8},  {"f32f32", DType::f32},
    {"sgemm", DType::f32},      {"scudnn", DType::f32},
    {"float", DType::f32},      {"_SB_", DType::f32},
    {"long", DType::i64},       {"bool", DType::boolean},
};

// Kernels that add to their result with atomics; counters show that they read it.
constexpr std::string_view kAccumulating[] = {
    "dgrad_engine<",     "wgrad_alg0_engine<",      "max_pool3d_with_indices_backward_single_out",
    "atomicadaptivemax", "atomic_adaptive_average",
};

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The number that stands at `at`.
std::optional<double> number(std::string_view text, std::size_t at) {
  int value = 0;
  if (at >= text.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? std::optional<double>(value) : std::nullopt;
}
std::optional<double> number_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::nullopt : number(text, at + mark.size());
}

// The arguments of the template that opens right behind `mark`, commas of inner templates not counted.
std::vector<std::string_view> template_arguments(std::string_view text, std::size_t open) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    const bool ends = depth == 0;
    if ((c == ',' && depth == 1) || ends) {
      std::string_view part = text.substr(start, i - start);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      out.push_back(part);
      start = i + 1;
    }
    if (ends) break;
  }
  return out;
}

// "BinaryOpListAlphaFunctor<float, 2, 2, 0>": types, then how many lists there are, how many are read, which is written.
// Fused optimizers: "FusedAdamMathFunctor<float, 4, ..>": the lists, all of them read.
void read_foreach(std::string_view name, KernelFacts* facts) {
  const std::size_t functor = name.find("Functor<");
  if (functor == std::string_view::npos) return;
  const auto arguments = template_arguments(name, functor + 7);
  if (arguments.empty()) return;
  facts->item = parse_dtype(arguments[0]);
  std::vector<int> numbers;
  for (const std::string_view a : arguments) {
    if (!a.empty() && std::isdigit(static_cast<unsigned char>(a[0])) != 0)
      numbers.push_back(static_cast<int>(number(a, 0).value_or(0)));
  }
  if (holds(name, "Fused") || numbers.size() < 3) {
    if (!numbers.empty()) facts->lists = facts->list_reads = numbers[0];
    return;
  }
  facts->lists = numbers[numbers.size() - 3];
  facts->list_reads = numbers[numbers.size() - 2];
}

DType opaque_type(double bytes) {
  if (bytes == 1) return DType::u8;
  if (bytes == 2) return DType::u16;
  if (bytes == 4) return DType::u32;
  if (bytes == 8) return DType::u64;
  return bytes == 16 ? DType::c128 : DType::unknown;
}

void read_cat(std::string_view name, KernelFacts* facts) {
  if (const auto bytes = number_after(name, "OpaqueType<")) {
    facts->item = opaque_type(*bytes);
    facts->item_opaque = true;
    return;
  }
  const std::size_t open = name.find('<', name.find("CatArrayBatchedCopy"));
  if (open == std::string_view::npos) return;
  const auto arguments = template_arguments(name, open);
  if (!arguments.empty()) facts->item = parse_dtype(arguments[0]);
}

void read_elementwise(std::string_view name, KernelFacts* facts) {
  facts->elementwise = true;
  auto pointers = number_after(name, "std::array<char*, ");
  if (!pointers) pointers = number_after(name, "Array<char*, ");
  if (pointers) facts->pointers = static_cast<int>(std::min(*pointers, 64.0));
}

// "nvjet_sm90_tst_64x128_64x8_2x1_h_bz_splitK_NTT": the tile of a block, its depth and stages, the blocks of a cluster.
void read_nvjet(std::string_view name, KernelFacts* facts) {
  double pairs[3][2] = {};
  std::size_t found = 0;
  for (std::size_t at = name.find('_'); at != std::string_view::npos && found < 3; at = name.find('_', at + 1)) {
    const std::size_t end = std::min(name.find('_', at + 1), name.size());
    const std::size_t x = name.find('x', at + 1);
    const auto m = number(name, at + 1), n = x < end ? number(name, x + 1) : std::nullopt;
    if (!m || !n) continue;
    pairs[found][0] = *m;
    pairs[found++][1] = *n;
  }
  if (found < 3) return;
  facts->block_m = pairs[0][0];
  facts->block_n = pairs[0][1];
  facts->cluster_m = std::max(pairs[2][0], 1.0);
  facts->cluster_n = std::max(pairs[2][1], 1.0);
  facts->sweeps_m = holds(name, "_v_");
  facts->sweeps_n = holds(name, "_h_");
  facts->transposed = name.ends_with('T');
}

DType computes_in(std::string_view name) {
  const auto* token =
      std::find_if(std::begin(kTypeTokens), std::end(kTypeTokens), [&](const TypeToken& t) { return holds(name, t.token); });
  return token == std::end(kTypeTokens) ? DType::unknown : token->dtype;
}

}  // namespace

KernelRole role_of(OpFamily family, std::string_view kernel) {
  const auto* rule = std::find_if(std::begin(kRules), std::end(kRules),
                                  [&](const RoleRule& r) { return r.family == family && holds(kernel, r.pattern); });
  return rule == std::end(kRules) ? KernelRole::main : rule->role;
}

KernelFacts facts_of(std::string_view kernel) {
  KernelFacts facts;
  facts.dtype = computes_in(kernel);
  facts.tensor_cores_only =
      kernel.starts_with("nvjet") || holds(kernel, "tf32") || holds(kernel, "s1688") || holds(kernel, "TF32");
  facts.fill = holds(kernel, "FillFunctor");
  facts.reduce = holds(kernel, "reduce_kernel<");
  facts.transpose = holds(kernel, "nchwToNhwc") || holds(kernel, "nhwcToNchw");
  facts.folds = holds(kernel, "FoldedNhwc") || holds(kernel, "foldedNhwc");
  facts.accumulates = std::any_of(std::begin(kAccumulating), std::end(kAccumulating),
                                  [&](std::string_view pattern) { return holds(kernel, pattern); });
  if (holds(kernel, "multi_tensor_apply_kernel")) {
    read_foreach(kernel, &facts);
  } else if (holds(kernel, "CatArrayBatchedCopy")) {
    read_cat(kernel, &facts);
  } else if (holds(kernel, "elementwise_kernel")) {
    read_elementwise(kernel, &facts);
  }
  if (kernel.starts_with("nvjet")) read_nvjet(kernel, &facts);
  const std::size_t tile = kernel.find("tilesize");
  if (tile != std::string_view::npos) {
    facts.tile_m = number(kernel, tile + 8).value_or(0);
    const std::size_t x = kernel.find('x', tile + 8);
    if (x != std::string_view::npos) facts.tile_n = number(kernel, x + 1).value_or(0);
  }
  const std::size_t index = kernel.find("index_elementwise_kernel<");
  if (index != std::string_view::npos) {
    const auto arguments = template_arguments(kernel, kernel.find('<', index));
    if (arguments.size() >= 2) {
      facts.elements_per_block = number(arguments[0], 0).value_or(0) * number(arguments[1], 0).value_or(0);
    }
  }
  return facts;
}

}  // namespace ridge
