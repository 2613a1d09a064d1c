// Kernel names with and without tensor cores.
#include "kernel_names/plain_float32.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(PlainFloat32, IsToldByTheName) {
  for (const char* name :
       {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute",
        "cutlass_80_simt_sgemm_128x64_8x5_nt_align1", "volta_sgemm_64x32_sliced1x4_tn",
        "implicit_convolve_sgemm<float, float, 1024>", "void fft2d_r2c_64x64<float>(float2*, float const*, int)",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*)",
        "void pointwise_mult_and_sum_complex<float2, 8, 4>(float2*, float2*, float2*, int)",
        "void cudnn::winograd_nonfused::winogradWgradData4x4<float, "
        "float>(cudnn::winograd_nonfused::WinogradDataParams<float>)"}) {
    EXPECT_TRUE(is_plain_float32(name)) << name;
  }
  for (const char* name : {"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x8", "cutlass_80_tensorop_s1688gemm_128x64",
                           "void implicit_convolveNd_sgemm<__nv_bfloat16, 3, 1024>", "implicit_convolve_sgemm<__half, __half>",
                           "ampere_bf16_s16816gemm_bf16_128x64", "triton_poi_fused_add_0",
                           "void cudnn::winograd_nonfused::winogradForwardData4x4<__half, float>(int)",
                           "void fft2d_r2c_32x32<__half, false, 0u>(float2*)"}) {
    EXPECT_FALSE(is_plain_float32(name)) << name;
  }
}

}  // namespace
}  // namespace ridge
