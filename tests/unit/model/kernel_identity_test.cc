// Each sort of kernel by a name that real traces hold.
#include "model/kernel_identity.h"

#include <gtest/gtest.h>

#include "ingest/reader.h"
#include "model/model.h"
#include "support/files.h"

namespace ridge {
namespace {

struct Case {
  std::string_view name;
  std::string_view op;
  Category category;
  std::string_view library;
  std::string_view label;
  bool helper = false;
};

class Identify : public testing::TestWithParam<Case> {};

TEST_P(Identify, TellsCategoryLibraryAndLabel) {
  const Case& c = GetParam();
  const KernelIdentity identity = identify_kernel(c.name, DeviceWork::kernel, c.op, LaunchHint::none);
  EXPECT_EQ(name_of(identity.category), name_of(c.category));
  EXPECT_EQ(identity.library, c.library);
  EXPECT_EQ(identity.label, c.label);
  EXPECT_EQ(identity.helper, c.helper);
}

using enum Category;

INSTANTIATE_TEST_SUITE_P(
    RealNames, Identify,
    testing::Values(
        Case{"void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int, int, int, int const*)", "", layout, "fbgemm",
             "permute_2D_data_kernel"},
        Case{"void fbgemm_gpu::(anonymous namespace)::_compute_FP8_quantize_cuda_kernel<float>(float const*, int)", "",
             elementwise, "fbgemm", "_compute_FP8_quantize_cuda_kernel<float>"},
        Case{"triton_poi_fused_convolution_4", "", triton_pointwise, "inductor", "triton_poi_fused_convolution_4"},
        Case{"triton_red_fused_native_layer_norm_relu_0", "", triton_reduction, "inductor",
             "triton_red_fused_native_layer_norm_relu_0"},
        Case{"triton_per_fused_add_mean_21", "", triton_persistent_reduction, "inductor", "triton_per_fused_add_mean_21"},
        Case{"triton_tem_fused_mm_0", "", triton_template, "inductor", "triton_tem_fused_mm_0"},
        Case{"triton_for_fused_1", "", triton_foreach, "inductor", "triton_for_fused_1"},
        Case{"triton_spl_fused_cumsum_0", "", triton_split_scan, "inductor", "triton_spl_fused_cumsum_0"},
        Case{"triton_unk_fused_sum_0", "", triton_other, "inductor", "triton_unk_fused_sum_0"},
        Case{"triton_", "triton_red_fused_sum_0", triton_reduction, "inductor", "triton_red_fused_sum_0"},
        Case{"triton__0d1d2de", "triton_poi_fused_add_0", triton_pointwise, "inductor", "triton_poi_fused_add_0"},
        Case{"triton_", "", triton_other, "inductor", "triton_"},
        Case{"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", "", gemm, "triton",
             "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1"},
        Case{"_topk_forward", "", reduction, "triton", "_topk_forward"},
        Case{"nvjet_sm90_tst_64x8_64x16_2x4_h_bz_NNT", "aten::mm", gemm, "cublas", "nvjet_sm90_tst_64x8_64x16_2x4_h_bz_NNT"},
        Case{"ampere_sgemm_128x128_tn", "aten::addmm", gemm, "cublas", "ampere_sgemm_128x128_tn"},
        Case{"ampere_gcgemm_64x64_nt", "aten::cudnn_convolution", conv, "cublas", "ampere_gcgemm_64x64_nt"},
        Case{"void "
             "cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)",
             "aten::addmm", gemm, "cutlass", "cutlass_80_simt_sgemm_64x64_8x5_tn_align1"},
        Case{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float, float, float, false, true, "
             "true, false, 7, "
             "cublasGemvParams<float> >(cublasGemvParams<float>)",
             "aten::mv", gemm, "cublas", "gemvx::kernel<float>"},
        Case{"void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, false, "
             "float>(cublasLt::cublasSplitKParams<float>, float*)",
             "aten::addmm", gemm, "cublas", "splitKreduce_kernel<float>", true},
        Case{"Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x32x64", "aten::mm", gemm, "tensile",
             "Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x32x64"},
        Case{"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x64x32", "", conv, "cudnn",
             "sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x64x32"},
        Case{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8", "", gemm, "cublas",
             "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8"},
        Case{"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32", "", conv, "miopen",
             "igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32"},
        Case{"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28GridwiseGemm_xdl", "",
             conv, "ck", "kernel_grouped_conv_fwd_xdl_cshuffle_v3"},
        Case{"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePass", "", norm, "ck", "Rmsnorm2dFwd"},
        Case{"_ZN17cutlass__5x_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock22Impl", "", conv,
             "cutlass", "ImplicitGemmConvolution"},
        Case{"void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false, true>(int)", "", layout, "cudnn",
             "nchwToNhwcKernel<__half, float>", true},
        Case{"batched_transpose_32x32_half", "aten::miopen_convolution", layout, "miopen", "batched_transpose_32x32_half",
             true},
        Case{"void cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel<xmma__5x_cudnn::P>(xmma__5x_cudnn::P, "
             "bool)",
             "", conv, "cudnn", "init_device_workspace_kernel", true},
        Case{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", "", attention, "cudnn",
             "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128"},
        Case{"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> "
             ">(int)",
             "", attention, "flash", "flash_fwd_kernel<bfloat16_t>"},
        Case{"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)", "", attention,
             "efficient", "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"},
        Case{"attn_fwd", "aten::_flash_attention_forward", attention, "aotriton", "attn_fwd"},
        Case{"void vllm::paged_attention_v1_kernel<float, 8>(int)", "", attention, "vllm", "paged_attention_v1_kernel<float>"},
        Case{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
             ">(int, "
             "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
             "aten::add", elementwise, "aten", "elementwise CUDAFunctor_add<float>"},
        Case{
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, float, "
            "float, "
            "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, int const&)::{lambda(int)#1}>(int, X)",
            "aten::mul", elementwise, "aten", "elementwise MulFunctor<float>"},
        Case{"void "
             "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#"
             "3}::operator()() "
             "const::{lambda()#7}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>, 4>(int)",
             "aten::copy_", layout, "aten", "copy direct_copy_kernel_cuda<float>"},
        Case{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
             "at::native::sum_functor<float, float, "
             "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)",
             "aten::sum", reduction, "aten", "reduce sum_functor<float>"},
        Case{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
             "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, "
             "4, "
             "(at::native::ADAM_MODE)1, false>, float const*>(int)",
             "aten::_fused_adamw_", optimizer, "aten", "optimizer FusedAdamMathFunctor<float>"},
        Case{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
             "namespace)::TensorListMetadata<1>, "
             "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)",
             "aten::_foreach_mul_", elementwise, "aten", "foreach BinaryOpScalarFunctor<float> multiplies"},
        Case{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int)", "", norm,
             "aten", "vectorized_layer_norm_kernel<BFloat16, float>"},
        Case{"void at::native::batch_norm_backward_kernel<float, float, float, int>(int)", "", norm, "aten",
             "batch_norm_backward_kernel<float>"},
        Case{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, false>(float*)", "", reduction,
             "aten", "softmax_warp_forward<float>"},
        Case{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(float*)", "", layout,
             "aten", "CatArrayBatchedCopy<float>"},
        Case{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "", comm, "nccl",
             "ncclDevKernel_AllGather_RING_LL"},
        Case{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(int)", "", comm, "vllm",
             "cross_device_reduce_1stage<__nv_bfloat16>"},
        Case{"void c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16, 8>(int)", "", comm, "symm_mem",
             "multimem_all_reduce_kernel<BFloat16>"},
        Case{"never_seen_before", "", other, "", "never_seen_before"}));

TEST(IdentifyKernel, KnowsUserTritonKernelsByTheirLaunch) {
  const auto category = [](std::string_view name, LaunchHint hint) {
    return identify_kernel(name, DeviceWork::kernel, "my_op", hint).category;
  };
  EXPECT_EQ(category("scale_add", LaunchHint::none), other);
  EXPECT_EQ(category("scale_add", LaunchHint::driver_call), triton_user);
  EXPECT_EQ(category("my_gemm", LaunchHint::triton_op), triton_user);  // what the op says is stronger than a name
  EXPECT_EQ(category("my_gemm", LaunchHint::driver_call), gemm);
  EXPECT_EQ(category("triton_poi_fused_add_0", LaunchHint::triton_op), triton_pointwise);
  EXPECT_EQ(category("void unheard_of<int>(int)", LaunchHint::driver_call), other);  // C++
}

TEST(IdentifyKernel, TakesCopiesAndSetsFromTheirSort) {
  EXPECT_EQ(identify_kernel("Memcpy HtoD (Pinned -> Device)", DeviceWork::copy, "", LaunchHint::none).category,
            Category::memcpy);
  EXPECT_EQ(identify_kernel("Memset (Device)", DeviceWork::set, "", LaunchHint::none).category, Category::memset);
}

TEST(IdentifyKernel, SurvivesAnyName) {
  for (const std::string_view name :
       {"", "<", ">", "((((", "_Z", "_ZN", "_ZN99999999999999999999x", "void ", "a::b<c<d>(", "::", "triton_poi_fused_",
        "_ZN6KernelI", "void at::native::elementwise_kernel<>(int)", "x<,,>", "_ZN6KernelILi", "_ZN6KernelIS"}) {
    EXPECT_LE(identify_kernel(name, DeviceWork::kernel, name, LaunchHint::driver_call).label.size(), name.size() + 16) << name;
  }
}

TEST(KernelIdentities, NameShortTritonKernelsByTheirOp) {
  const auto trace = read_trace_bytes(test::fixture("triton_short_names"), "t", {}).value();
  const Model model(*trace);
  ASSERT_FALSE(model.identities().of_row.empty());
  EXPECT_EQ(model.identities()[0].label, "triton_red_fused__softmax_add_exp_mul_prepare_softmax_online_sin_sub_0");
  EXPECT_EQ(model.identities()[0].category, triton_reduction);
}

TEST(KernelIdentities, FindTheUsersTritonKernel) {
  const auto trace = read_trace_bytes(test::fixture("user_triton_kernel"), "t", {}).value();
  const Model model(*trace);
  ASSERT_FALSE(model.identities().of_row.empty());
  EXPECT_EQ(model.identities()[0].category, triton_user);
  EXPECT_EQ(model.identities()[0].label, "scale_add");
}

}  // namespace
}  // namespace ridge
