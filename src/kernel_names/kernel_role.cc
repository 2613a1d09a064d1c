// The table of roles: which part of an op a kernel of a name does.
#include "kernel_names/kernel_role.h"

#include <algorithm>
#include <iterator>

#include "kernel_names/kernel_name.h"

namespace ridge {
namespace {

struct RoleRule {
  OpFamily family;
  std::string_view pattern;
  KernelRole role;
};

// The first row of the op's family whose pattern the name holds decides.
struct RoleTable {
  using enum OpFamily;
  static constexpr RoleRule kRows[] = {
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
      {gemm, "group_gemm_starts", KernelRole::initialise},  // vLLM, SGLang: where each expert's tensors begin
      {gemm, "GemmPreCompute", KernelRole::initialise},     // SGLang
      {gemm, "permute_cols", KernelRole::layout_in},        // Marlin
      {gemm, "reconstruct_gptq", KernelRole::unknown},      // weights unpacked for a product of the library
      {gemm, "reconstruct_exllama", KernelRole::unknown},
      {gemm, "dequantize_rhs", KernelRole::unknown},  // AllSpark
      {gemm, "elementwise_kernel", KernelRole::bias},

      {convolution, "init_device_workspace", KernelRole::initialise},
      {convolution, "computeOffsets", KernelRole::initialise},
      {convolution, "OffsetsKernel", KernelRole::initialise},
      {convolution, "kern_precompute_indices", KernelRole::initialise},
      {convolution, "kernel_helper_stage", KernelRole::initialise},
      {convolution, "compute_valid_masks", KernelRole::initialise},
      {convolution, "execute_helper_kernel", KernelRole::layout_in},  // weights of a depthwise convolution
      {convolution, "generateWinogradTiles", KernelRole::initialise},
      {convolution, "nchwToNhwc", KernelRole::layout_in},
      {convolution, "nchwToFoldedNhwc", KernelRole::layout_in},
      {convolution, "nhwcToNchw", KernelRole::layout_out},
      {convolution, "foldedNhwcToNchw", KernelRole::layout_out},
      {convolution, "convertTensor", KernelRole::layout_in},
      {convolution, "nhwcAddPadding", KernelRole::layout_in},
      {convolution, "nhwcSliceC", KernelRole::layout_in},
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
      {convolution, "region_transform_ABC", KernelRole::layout_in},  // of transformed operands and results
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
      {attention, "reduce_segments", KernelRole::combine},
      {attention, "ll4mi_reduce", KernelRole::combine},
      {attention, "paged_attention_v2_reduce", KernelRole::combine},
      {attention, "copy_page_indices", KernelRole::initialise},
      {attention, "lean_reduction", KernelRole::combine},
      {attention, "MergeStates", KernelRole::combine},    // FlashInfer
      {attention, "mla_combine", KernelRole::combine},    // FlashMLA
      {attention, "MlaReduction", KernelRole::combine},   // CUTLASS
      {attention, "mla_reduce", KernelRole::combine},     // AITER
      {attention, "kernel_stage2", KernelRole::combine},  // AITER, Triton
      {attention, "fmhaReduction", KernelRole::combine},  // TensorRT-LLM
      {attention, "FlashAttnFwdCombine", KernelRole::combine},
      {attention, "bwd_kernel_dk_dv", KernelRole::grad_key_value},
      {attention, "bwd_kernel_dq", KernelRole::grad_query},
      {attention, "prepare_varlen", KernelRole::initialise},
      {attention, "philox", KernelRole::initialise},
      {attention, "reduce_head", KernelRole::combine},
      {attention, "FillFunctor", KernelRole::fill},

      {norm, "RowwiseMoments", KernelRole::statistics},
      {norm, "LayerNormForwardCUDAKernel", KernelRole::apply},
      {norm, "ComputeInternalGradients", KernelRole::statistics},
      {norm, "Compute1dBackwardFusedParams", KernelRole::statistics},
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
      {norm, "batch_norm_backward_kernel", KernelRole::apply_twice},  // ATen's: a block for each channel
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
      {loss, "no_reduce_kernel", KernelRole::main},  // the loss of each row
      {loss, "size_average", KernelRole::combine},
      {loss, "reduce_kernel", KernelRole::combine},
      {pointwise, "FillFunctor", KernelRole::fill},
      {reduction, "ScanInit", KernelRole::initialise},
      {reduction, "CompactInit", KernelRole::initialise},
      {reduction, "SingleTile", KernelRole::parameters},

      {sort, "Histogram", KernelRole::statistics},
      {sort, "gather_keep_from_mask", KernelRole::combine},
      {sort, "ExclusiveSum", KernelRole::initialise},
      {sort, "ScanInit", KernelRole::initialise},
      {sort, "CompactInit", KernelRole::initialise},
      {sort, "fill_", KernelRole::fill},
      {sort, "FillFunctor", KernelRole::fill},
      {sort, "elementwise_kernel_with_index", KernelRole::fill},
      {sort, "mbtopk::fill<", KernelRole::fill},
      {sort, "ScanByKeyInit", KernelRole::initialise},
      {sort, "ScanByKey", KernelRole::combine},
      {sort, "SingleTile", KernelRole::index_helper},
      {sort, "computeBlockwise", KernelRole::combine},
      {sort, "computeDigit", KernelRole::combine},
      {sort, "bitonicSort", KernelRole::index_helper},
      {sort, "BlockSort", KernelRole::index_helper},

      {recurrent, "elemWiseRNNcell", KernelRole::apply},
      {recurrent, "elementWise_bp1", KernelRole::apply},
      {recurrent, "elementWise_bp2", KernelRole::statistics},
      {recurrent, "bidirectional_accum", KernelRole::combine},
      {recurrent, "splitKreduce", KernelRole::combine},
      {recurrent, "dropout_apply_mask", KernelRole::bias},
      {recurrent, "dropout_generate_mask", KernelRole::initialise},

      {experts, "quantize", KernelRole::layout_in},
      {experts, "quant_kernel", KernelRole::layout_in},
      {experts, "routing", KernelRole::index_helper},
      {experts, "topk", KernelRole::index_helper},
      {experts, "bitmatrix", KernelRole::index_helper},
      {experts, "moe_align", KernelRole::index_helper},
      {experts, "MoeSorting", KernelRole::index_helper},
      {experts, "moe_sort", KernelRole::index_helper},
      {experts, "Topk", KernelRole::index_helper},
      {experts, "finalize", KernelRole::combine},
      {experts, "moe_sum", KernelRole::combine},
      {experts, "FillFunctor", KernelRole::fill},

      {transfer, "segmented_max_reduction", KernelRole::statistics},
      {transfer, "initializeScale", KernelRole::initialise},
      {transfer, "data_to_scale", KernelRole::statistics},
      {transfer, "FillFunctor", KernelRole::fill},

      {optimizer, "cleanup", KernelRole::combine},
      {optimizer, "FillFunctor", KernelRole::initialise},
  };
};

}  // namespace

KernelRole role_of(OpFamily family, std::string_view name) {
  const std::string_view kernel = cut_kernel_name(name);
  const auto* rule = std::find_if(std::begin(RoleTable::kRows), std::end(RoleTable::kRows), [&](const RoleRule& r) {
    return r.family == family && kernel.find(r.pattern) != std::string_view::npos;
  });
  return rule == std::end(RoleTable::kRows) ? KernelRole::main : rule->role;
}

}  // namespace ridge
