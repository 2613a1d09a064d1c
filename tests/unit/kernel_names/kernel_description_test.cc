// What the names of public sources tell of their kernels.
#include "kernel_names/kernel_description.h"

#include <gtest/gtest.h>

#include "kernel_names/kernel_facts.h"
#include "kernel_names/kernel_name.h"
#include "kernel_names/kernel_role.h"

namespace ridge {
namespace {

using enum Category;

// Names of public sources, by vendor and library: what sort of work each is.
struct Named {
  std::string_view name;
  Category category;
  std::string_view library;
};

TEST(DescribeKernel, OfCudnnAndFlashinfer) {
  constexpr Named kNames[] = {
      {"void cudnn::batchnorm_fwtr_nhwc_semiPersist<__half, float, float, float, 64, 1, 1, 1>(int)", norm, "cudnn"},
      {"void cudnn::batchnorm_bwtr_nhwc_semiPersist<__half, float, float, float, 64>(int)", norm, "cudnn"},
      {"void xmma__5x_cudnn::implicit_gemm::strided_dgrad_indexed::kernel_helper_stage_0<float>(int)", conv, "cudnn"},
      {"conv1D_NCHW", conv, "cudnn"},
      {"void cudnn::ops::tensorTransformGeneric<__half, __half, float, false, (cudnnKernelDataType_t)0>(int)", layout, "cudnn"},
      {"void at::native::glu_backward_kernel<c10::Half, OffsetCalculator<3>>(int)", elementwise, "aten"},
      {"conv1D_NCHW_wgrad", conv, "cudnn"},
      {"abs_kernel_vectorized2_kernel", elementwise, "aten"},
      {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<int>(int)", attention, "flashinfer"},
      {"void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(int)", norm, "flashinfer"},
      {"void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16>(int)", elementwise, "flashinfer"},
      {"void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>(float*)", other, "flashinfer"},
      {"void flashinfer::AppendPagedKVCacheKernel<128u>(int)", layout, "flashinfer"},
      {"void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<false>(int)", elementwise, "flashinfer"},
  };
  for (const Named& each : kNames) {
    const KernelDescription kernel = describe_kernel(each.name);
    EXPECT_EQ(name_of(kernel.category), name_of(each.category)) << each.name;
    EXPECT_EQ(kernel.library, each.library) << each.name;
  }
}

TEST(DescribeKernel, OfOtherVendors) {
  constexpr Named kNames[] = {
      // the HIP runtime
      {"__amd_rocclr_fillBufferAligned", elementwise, "rocclr"},
      {"__amd_rocclr_copyBuffer", layout, "rocclr"},
      {"__amd_rocclr_copyBufferRectAligned", layout, "rocclr"},
      {"__amd_rocclr_streamOpsWait", other, "rocclr"},
      // products
      {"Custom_Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SAV_NTD_SK3_UserArgs_shortname0_gfx942", gemm, "hipblaslt"},
      {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", gemm, "tensile"},
      {"ref_matmul", gemm, "onednn"},
      {"gemm_kernel", gemm, ""},
      {"void aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256(int)", gemm, "aiter"},
      // convolutions and what belongs to them
      {"gen_conv", conv, "onednn"},
      {"gen_conv_kernel", conv, "onednn"},
      {"gen9_conv_nhwc_fwd", conv, "onednn"},
      {"gridwise_convolution_implicit_gemm_v4r1_nchw_kcyx_nkhw_lds_double_buffer", conv, "miopen"},
      {"Im2d2Col", layout, "miopen"},
      {"Im2d2Col_v2", layout, "miopen"},
      {"Col2Im2dU_v2", layout, "miopen"},
      {"OpTensorFwdBias", layout, "miopen"},
      {"general_tensor_reorder_256x1_word_r0132", layout, "miopen"},
      {"simple_reorder", layout, "onednn"},
      // attention
      {"micro_sdpa", attention, "onednn"},
      {"void flash::prepare_varlen_num_blocks_kernel<1, true>(int, int)", attention, "flash"},
      {"void vllm::merge_attn_states_kernel<__hip_bfloat16, 128u>(__hip_bfloat16*)", attention, "vllm"},
      {"void vllm::concat_and_cache_mla_kernel<unsigned short, unsigned char>(unsigned short const*)", layout, "vllm"},
      {"void aiter::pa_bf16_pertokenFp8_gqa8_1tg_4w(int)", attention, "aiter"},
      // norms
      {"void aiter::add_rmsnorm_quant_kernel<__hip_bfloat16, 256>(int)", norm, ""},
      {"vectorized_lnorm_fwd", norm, "onednn"},
      {"nhwc_bnorm_fwd", norm, "onednn"},
      {"MIOpenLRNWithinChannel_PS", norm, "miopen"},
      {"void transformer_engine::normalization::ln_fwd_tuned_kernel<int>(int)", norm, "transformer_engine"},
      // element by element
      {"at::native::xpu::VectorizedElementwiseKernel<4, at::native::xpu::AddFunctor<float>, int>", elementwise, "aten"},
      {"at::native::xpu::UnrolledElementwiseKernel<at::native::xpu::FillFunctor<float>, int>", elementwise, "aten"},
      {"gen9_eltwise_fwd", elementwise, "onednn"},
      {"MIOpenActiveFwd2DLite", elementwise, "miopen"},
      {"LSTMFwdHidUpdate", elementwise, "miopen"},
      {"void ck::kernel_elementwise<int>(int)", elementwise, "ck"},
      {"void ck_tile::kentry<256, 1, ck_tile::MoeSmoothquant<int>>(int)", elementwise, "ck"},
      // reductions
      {"at::native::xpu::ReduceKernel<1, at::native::xpu::ReduceOp<float>>", reduction, "aten"},
      {"at::native::xpu::SoftmaxForwardKernelFunctor<4, float>", reduction, "aten"},
      {"mloPoolingG", reduction, "miopen"},
      {"gen9_reduction", reduction, "onednn"},
      {"void rocprim::detail::lookback_scan_kernel<int>(int)", reduction, "rocprim"},
      // moving data
      {"at::native::xpu::IndexKernel<int>", layout, "aten"},
      {"gen9_concat", layout, "onednn"},
      {"void rocprim::detail::onesweep_iteration_kernel<int>(int)", layout, "rocprim"},
      {"void ck_tile::kentry<256, 2, ck_tile::MoeSortingKernel<int>>(int)", layout, "ck"},
      {"void vllm::moe::moe_align_block_size_kernel<int>(int*)", layout, "vllm"},
      // communication
      {"mscclpp::allreduce7", comm, "msccl"},
  };
  for (const Named& c : kNames) {
    SCOPED_TRACE(c.name);
    const KernelDescription kernel = describe_kernel(c.name);
    EXPECT_EQ(name_of(kernel.category), name_of(c.category));
    EXPECT_EQ(kernel.library, c.library);
  }
}

// Each stood under "other" or "triton_user", or in the wrong category, in a public trace or source.
TEST(DescribeKernel, OfServersAndRecommenders) {
  constexpr Named kNames[] = {
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", gemm, "triton"},
      {"_finalize_matmul_scatter_bf16", gemm, "triton"},
      {"fused_moe_kernel", gemm, "vllm"},
      {"_topk_forward", reduction, "triton"},
      {"_sum_bitmatrix_rows", reduction, "triton"},
      {"_combined_routing_compute", layout, "triton"},
      {"void moe::dev::routing::routingIndicesHistogramKernel<moe::dev::routing::KernelParams<__nv_bfloat16> >(int)", layout,
       "trtllm"},
      {"void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<cutlass::bfloat16_t> >(int)", reduction,
       "trtllm"},
      {"void qk_int_sv_f8_attn_kernel<128, 64, 32, 64, 128>(signed char*)", attention, "sage"},
      {"void QuantInt8Kernel<128, 128, false, __nv_bfloat16>(__nv_bfloat16*)", elementwise, "sage"},
      {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib", norm, ""},
      {"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, false>(long)", layout,
       "cub"},
      {"void cub::DeviceRadixSortHistogramKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800>(int*)", reduction,
       "cub"},
      {"void bounds_check_indices_kernel<long, false>(long)", elementwise, "fbgemm"},
      {"void compute_cuda_kernel<long>(long*, long*, long*, long, long)", layout, "aten"},
      {"void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)", layout,
       "sglang"},
      {"create_flashinfer_kv_indices_triton", layout, "sglang"},
      {"void (anonymous namespace)::clamp_position_kernel<long>(long*, long const*, unsigned long)", elementwise, "sglang"},
      {"void vllm::indexer_k_quant_and_cache_kernel<__nv_bfloat16>(int)", layout, "vllm"},
  };
  for (const Named& c : kNames) {
    SCOPED_TRACE(c.name);
    const KernelDescription kernel = describe_kernel(c.name);
    EXPECT_EQ(name_of(kernel.category), name_of(c.category));
    EXPECT_EQ(kernel.library, c.library);
  }
}

TEST(DescribeKernel, ReadsFusedOps) {
  const auto fused = [](std::string_view name) { return describe_kernel(name).fused_ops; };
  EXPECT_EQ(fused("triton_per_fused__native_batch_norm_legit_functional_copy__24"),
            (std::vector<std::string>{"_native_batch_norm_legit_functional", "copy_"}));
  EXPECT_EQ(fused("triton_poi_fused_add_3_0d1d2de"), (std::vector<std::string>{"add"}));
  EXPECT_TRUE(fused("triton_poi_fused_7").empty());
}

TEST(DescribeKernel, NamesInBracketsAreTheirOwnLabel) {
  for (const std::string_view name :
       {"<unknown>", "<barrier packet>", "<Unnamed kernel>(int)", "<", "<>", "void <x>::f<int>(y)"})
    EXPECT_FALSE(describe_kernel(name).label.empty()) << name;
  EXPECT_EQ(describe_kernel("<barrier packet>").label, "<barrier packet>");
}

// Hundreds of words are looked for in a name: in one of 50 MB, half a minute of each answer.
TEST(DescribeKernel, LooksAtNoMoreOfANameThanAKernelMayHave) {
  const std::string begin(kLongestKernelName - 1, 'k');
  const std::string name = begin + "\u6F22_tf32_gemm_FillFunctor";  // cut inside of its first character
  EXPECT_EQ(describe_kernel(name).label, begin);
  EXPECT_EQ(describe_kernel(name).category, describe_kernel(begin).category);
  EXPECT_EQ(describe_user_triton(name).label, begin);
  EXPECT_FALSE(facts_of(name).tensor_cores_only);
  EXPECT_FALSE(facts_of(name).fill);
  EXPECT_EQ(role_of(OpFamily::transfer, name), KernelRole::main);
  EXPECT_EQ(role_of(OpFamily::transfer, "FillFunctor"), KernelRole::fill);
}

// f(A<int, int>, A<A<int, int>, A<int, int>>, ...): each parameter twice the one before. 30 of them fill the memory of a
// machine.
TEST(DescribeKernel, ReferencesToReferencesAreNotWrittenOut) {
  const auto doubled = [](int times) {
    std::string name = "_Z1f1AIiiE";
    const char* const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int i = 0; i < times; ++i) name += std::string("S_IS") + digits[i] + "_S" + digits[i] + "_E";
    return name;
  };
  EXPECT_EQ(take_apart(doubled(1)).text, "f");
  EXPECT_EQ(take_apart(doubled(18)).text, "f::A");  // the identifiers that it spells; written out it takes 2 MB
}

}  // namespace
}  // namespace ridge
