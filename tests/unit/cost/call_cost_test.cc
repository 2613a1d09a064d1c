// The part of an op that a kernel does, by hand-made launches. The counters in comments are dram__bytes_read.sum of an H200.
#include <string_view>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

using test::launch;

constexpr std::string_view kStridedArgs =
    R"("Input Dims": [[32, 256, 56, 56], [512, 256, 1, 1], [], [], [], [], [], [], []], )"
    R"("Input Strides": [[802816, 1, 14336, 256], [256, 1, 256, 256], [], [], [], [], [], [], []], )"
    R"("Input type": ["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
    R"("Concrete Inputs": ["", "", "[0, 0]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"])";

TEST(CallCost, AStrideBeyondTheKernelLeavesPositionsUnread) {
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::cudnn_convolution", .ts = 5, .dur = 50, .args = kStridedArgs}),
       launch(1, "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64", "[66, 2, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 2.0 * (32 * 256 * 28 * 28 + 512 * 256));  // counted 13,174,528
}

TEST(CallCost, ASemiPersistentBatchNormReadsTwiceWhatItCannotKeep) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[64, 64, 112, 112], [64], [64], [64], [64], [], [], []], )"
      R"("Input type": ["float", "float", "float", "float", "float", "Scalar", "Scalar", "Scalar"])";
  const auto loaded =
      test::load_events(test::join({test::event({.name = "aten::cudnn_batch_norm", .ts = 5, .dur = 50, .args = kArgs}),
                                    launch(1, "void cudnn::batchnorm_fwtr_nhwc_semiPersist<float>(x)", "[264, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_NEAR(costs[0].bytes_read.value_or(0), 381733888, 0.02 * 381733888);
}

TEST(CallCost, BlocksOverTilesTellHowOftenAProductIsSplit) {
  constexpr std::string_view kArgs = R"("Input Dims": [[192, 12544], [12544, 192]], "Input type": ["c10::Half", "c10::Half"])";
  const auto loaded =
      test::load_events(test::join({test::event({.name = "aten::mm", .ts = 5, .dur = 50, .args = kArgs}),
                                    launch(1, "nvjet_sm90_hsh_64x32_64x16_1x4_h_bz_splitK_NTT", "[4, 30, 1]"),
                                    launch(2, "void cublasLt::splitKreduce_kernel<32, 16, int, float>(x)", "[6, 12, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[1].bytes_read, 5.0 * 192 * 192 * 4);  // counted 746,240: 8 x 3 tiles, 120 blocks
}

LaunchCost only(std::string_view op, std::string_view args, std::string_view kernel, std::string_view grid) {
  const auto loaded =
      test::load_events(test::join({test::event({.name = op, .ts = 5, .dur = 50, .args = args}), launch(1, kernel, grid)}));
  return CostModel(*loaded.model, {})[0];
}

TEST(CallCost, BlocksOfATileShareItsSum) {
  // 4 x 2 tiles, 128 blocks: 16 parts of 1 MB; counted 16,835,840.
  constexpr std::string_view kArgs = R"("Input Dims": [[512, 65536], [65536, 512]], "Input type": ["float", "float"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::mm", .ts = 5, .dur = 50, .args = kArgs}),
       launch(1,
              "sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_on_kernel__5x_"
              "cublas",
              "[128, 1, 1]"),
       launch(2,
              "sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_split_k_kernel__5x_cublas",
              "[128, 1, 1]")}));
  EXPECT_EQ(CostModel(*loaded.model, {})[1].bytes_read, 16.0 * 512 * 512 * 4);
}

TEST(CallCost, AGroupsChannelsComeInPiecesOf64Bytes) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[64, 64, 80, 80], [64, 16, 3, 3], [], [], [], [], [], [], []], )"
      R"("Input Strides": [[409600, 1, 5120, 64], [144, 1, 48, 16], [], [], [], [], [], [], []], )"
      R"("Input type": ["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "4", "False", "False", "True"])";
  const auto loaded = test::load_events(
      test::join({test::event({.name = "aten::cudnn_convolution", .ts = 5, .dur = 50, .args = kArgs}),
                  launch(1, "void nhwcSliceCKernel<__nv_bfloat16, __nv_bfloat16, float, true, (cudnnKernelDataType_t)0>(x)",
                         "[2048, 1, 1]")}));
  EXPECT_EQ(CostModel(*loaded.model, {})[0].bytes_read, 64.0 * 80 * 80 * 64);  // 16 of 64 channels; counted 26,220,544
}

TEST(CallCost, ALibraryThatWorksChannelsFirstTransposesTheOtherWayRound) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[32, 64, 64, 64], [64, 3, 4, 4], [], [], [], [], [], [], [], []], )"
      R"("Input Strides": [[262144, 1, 4096, 64], [48, 1, 12, 3], [], [], [], [], [], [], [], []], )"
      R"("Input type": ["float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "[1, 1]", "[0, 0]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::cudnn_convolution_transpose", .ts = 5, .dur = 50, .args = kArgs}),
       launch(
           1,
           "void cudnn::engines_precompiled::nhwcToNchwKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(x)",
           "[128, 2, 32]"),
       launch(2, "void cudnn::cnn::conv2d_grouped_direct_kernel<x>(y)", "[64, 1, 1]"),
       launch(
           3,
           "void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)0>(x)",
           "[512, 1, 32]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 4.0 * 32 * 64 * 64 * 64);   // counted 33,570,560
  EXPECT_EQ(costs[2].bytes_read, 4.0 * 32 * 3 * 128 * 128);  // counted 6,301,952
}

TEST(CallCost, ASumOfBooleansReadsThemAsIntegers) {
  // They were copied to int64 before; counted 167,837,184.
  constexpr std::string_view kArgs =
      R"("Input Dims": [[16, 64, 1024, 20], [], [], []], "Input type": ["bool", "ScalarList", "Scalar", ""], )"
      R"("Concrete Inputs": ["", "[-1]", "True", ""])";
  EXPECT_EQ(
      only("aten::sum", kArgs,
           "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<long, x, unsigned int, long, 4>>(y)", "[32768, 1, 1]")
          .bytes_read,
      16.0 * 64 * 1024 * 20 * 8);
  EXPECT_EQ(
      only("aten::sum", kArgs,
           "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<bool, x, unsigned int, long, 4>>(y)", "[32768, 1, 1]")
          .bytes_read,
      16.0 * 64 * 1024 * 20);
}

TEST(CallCost, TheGradientOfAPaddingIsAddedWithAtomics) {
  const LaunchCost cost = only(
      "aten::reflection_pad2d_backward",
      R"("Input Dims": [[8, 64, 258, 258], [8, 64, 256, 256], []], "Input type": ["c10::BFloat16", "c10::BFloat16", "ScalarList"])",
      "void at::native::(anonymous namespace)::reflection_pad2d_backward_out_kernel<c10::BFloat16>(x)", "[261, 64, 8]");
  EXPECT_EQ(cost.bytes_read, 2.0 * 8 * 64 * (258 * 258 + 256 * 256));  // counted 135,301,120
}

TEST(CallCost, AMaximumsGradientIsAddedToOnePlaceEach) {
  const LaunchCost cost = only(
      "aten::adaptive_max_pool2d_backward",
      R"("Input Dims": [[16, 512, 1, 1], [16, 512, 1, 1024], [16, 512, 1, 1]], "Input type": ["float", "float", "long int"])",
      "void at::native::(anonymous namespace)::atomicadaptivemaxgradinput<float>(x)", "[8192, 1, 1]");
  EXPECT_EQ(cost.bytes_read, 8192.0 * (4 + 8 + 32));  // counted 496,128, of which the code takes its part
}

TEST(CallCost, ChannelsLastMaximaAreAGuess) {
  const LaunchCost cost =
      only("aten::max_pool2d_with_indices_backward",
           R"("Input Dims": [[16, 64, 56, 56], [16, 64, 112, 112], [], [], [], [], [], [16, 64, 56, 56]], )"
           R"("Input Strides": [[200704, 1, 3584, 64], [802816, 1, 7168, 64], [], [], [], [], [], [200704, 1, 3584, 64]], )"
           R"("Input type": ["float", "float", "", "", "", "", "", "long int"])",
           "void at::native::(anonymous namespace)::max_pool_backward_nhwc<float, float>(x)", "[16, 2, 56]");
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);  // counted 76,635,648 where 38,535,168 are given
}

TEST(CallCost, SamplesOfAGridAddToTheMap) {
  const LaunchCost cost =
      only("aten::grid_sampler_2d_backward",
           R"("Input Dims": [[2, 8, 32, 32], [2, 8, 64, 64], [2, 32, 32, 2], [], [], [], []], )"
           R"("Input type": ["float", "float", "float", "Scalar", "Scalar", "Scalar", ""], )"
           R"("Concrete Inputs": ["", "", "", "0", "0", "True", "[True, True]"])",
           "void at::native::(anonymous namespace)::grid_sampler_2d_backward_kernel<float, int>(x)", "[8, 1, 1]");
  EXPECT_EQ(cost.bytes_read, 4.0 * (2 * 8 * 32 * 32 + 2 * (2 * 8 * 64 * 64) + 2 * 32 * 32 * 2));
}

TEST(CallCost, TransformsAndSearches) {
  EXPECT_EQ(only("aten::_fft_r2c",
                 R"("Input Dims": [[8, 1024], [], [], []], "Input type": ["float", "ScalarList", "Scalar", "Scalar"])",
                 "void regular_fft<1024u, EPT<4u>>(x)", "[8, 1, 1]")
                .bytes_read,
            8.0 * 1024 * 4);
  EXPECT_EQ(only("aten::searchsorted", R"("Input Dims": [[2048, 64], [2048, 32]], "Input type": ["float", "float"])",
                 "void at::native::(anonymous namespace)::searchsorted_cuda_kernel<float, long>(x)", "[128, 1, 1]")
                .bytes_read,
            4.0 * 2048 * (64 + 32));
}

TEST(CallCost, TheMeanOfALossDividesTwoNumbers) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[8, 21, 256, 256], [8, 256, 256], [], [], []], "Input type": ["float", "long int", "", "Scalar", "Scalar"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::nll_loss2d_forward", .ts = 5, .dur = 50, .args = kArgs}),
       launch(1, "void at::native::nll_loss2d_forward_kernel<float, float>(x)", "[256, 1, 1]"),
       launch(2, "void at::native::nll_loss2d_forward_size_average_kernel<float>(float*, float const*)", "[1, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_GT(costs[0].bytes_read.value_or(0), 8.0 * 256 * 256 * 8);
  EXPECT_EQ(costs[1].bytes_read, 8.0);
  EXPECT_EQ(costs[1].bytes_written, 4.0);
}

TEST(CallCost, HelpersOfAttentionTakeNothingFromItsMainKernel) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[4, 16, 1024, 64], [4, 16, 1024, 64], [4, 4, 1024, 64], [4, 4, 1024, 64], [4, 16, 1024, 64], [4, 16, 1024, 1]], )"
      R"("Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float"])";
  const auto loaded =
      test::load_events(test::join({test::event({.name = "aten::_cudnn_attention_backward", .ts = 5, .dur = 50, .args = kArgs}),
                                    launch(1, "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16", "[132, 1, 1]"),
                                    launch(2, "void cudnn::fusion::fmha_reduce_head<true>(x)", "[64, 4, 4]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_NEAR(costs[0].bytes_read.value_or(0), 38304000, 0.1 * 38304000);
  EXPECT_EQ(costs[1].bytes_read, 2.0 * 4 * 16 * 1024 * 64);  // counted 8,397,056
  EXPECT_EQ(costs[1].flops, 0);
}

TEST(CallCost, TheDepthwiseWeightGradientAddsUpAPartForEachBlock) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[32, 240, 14, 14], [32, 240, 28, 28], [240, 1, 3, 3], [], [], [], [], [], [], [], []], )"
      R"("Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", ""], )"
      R"("Concrete Inputs": ["", "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "240", "[True, True, False]"])";
  const auto loaded = test::load_events(
      test::join({test::event({.name = "aten::convolution_backward", .ts = 5, .dur = 50, .args = kArgs}),
                  launch(1, "dgrad2d_c1_k1_nhwc_specialized", "[184, 32, 1]"), launch(2, "wgrad2d_c1_k1_nhwc", "[8, 32, 3]"),
                  launch(3, "wgrad2d_c1_k1_nhwc_reduce", "[9, 8, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[1].bytes_read, 2.0 * 32 * 240 * (14 * 14 + 28 * 28));  // counted 15,078,400
  EXPECT_EQ(costs[2].bytes_read, 8.0 * 32 * 3 * 32 * 9 * 4);             // counted 892,160
}

constexpr std::string_view kBackwardTypes =
    R"("Input type": ["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"], )";

TEST(CallCost, FoldedStridesEnlargeTheWeightsAndTheGridTellsTheOperand) {
  const std::string args =
      R"("Input Dims": [[128, 512, 4, 4], [128, 256, 8, 8], [512, 256, 4, 4], [], [], [], [], [], [], [], []], )" +
      std::string(kBackwardTypes) +
      R"("Concrete Inputs": ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, False, False]"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::convolution_backward", .ts = 5, .dur = 50, .args = args}),
       launch(1, "void nchwToFoldedNhwcKernel<float, float, float, true, (cudnnKernelDataType_t)2>(x)", "[1, 8, 512]"),
       launch(2,
              "void "
              "cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_128x128_16x5_nhwc_unity_stride_align4>(x)",
              "[64, 2, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 4.0 * 512 * 256 * 16);                     // the weights; counted 8,406,528
  EXPECT_EQ(costs[1].bytes_read, 4.0 * (128 * 512 * 16 + 512 * 256 * 36));  // 4 x 4 becomes 6 x 6; counted 23,100,672
}

TEST(CallCost, EnginesThatAddWithAtomicsReadTheirResult) {
  const std::string args =
      R"("Input Dims": [[128, 64, 32, 32], [128, 3, 64, 64], [64, 3, 4, 4], [], [], [], [], [], [], [], []], )" +
      std::string(kBackwardTypes) +
      R"("Concrete Inputs": ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"])";
  const auto loaded = test::load_events(
      test::join({test::event({.name = "aten::convolution_backward", .ts = 5, .dur = 50, .args = args}),
                  launch(1, "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(x)", "[1, 32, 128]"),
                  launch(2, "void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(x)", "[2, 2, 256]")}));
  const CostModel costs(*loaded.model, {});
  const double grad = 4.0 * 128 * 64 * 32 * 32, x = 4.0 * 128 * 3 * 64 * 64, w = 4.0 * 64 * 3 * 16;
  EXPECT_EQ(costs[0].bytes_read, grad + w + x);  // counted 39,908,608
  EXPECT_EQ(costs[1].bytes_read, grad + x + w);  // counted 39,908,608
}

TEST(CallCost, KernelsThatGatherTheirOperandsNeedNoPaddedChannels) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[8, 3, 8, 112, 112], [32, 3, 3, 7, 7], [], [], [], [], [], [], []], )"
      R"("Input type": ["c10::Half", "c10::Half", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "[1, 3, 3]", "[1, 2, 2]", "[1, 1, 1]", "1", "False", "False", "True"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::cudnn_convolution", .ts = 5, .dur = 50, .args = kArgs}),
       launch(1, "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false, true>(x)", "[3136, 1, 8]"),
       launch(2, "sm80_xmma_fprop_implicit_gemm_indexed_wo_smem_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x32x16",
              "[1, 1568, 1]")}));
  const CostModel costs(*loaded.model, {});
  const double x = 2.0 * 8 * 3 * 8 * 112 * 112;
  EXPECT_EQ(costs[0].bytes_read, x);                             // counted 4,826,624
  EXPECT_EQ(costs[1].bytes_read, x + 2.0 * 32 * 3 * 3 * 7 * 7);  // counted 4,867,328
}

TEST(CallCost, PaddingIsAddedToWeightsOfFewOutputsToo) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[16, 64, 64, 64], [4, 64, 3, 3], [], [], [], [], [], [], []], )"
      R"("Input type": ["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::cudnn_convolution", .ts = 5, .dur = 50, .args = kArgs}),
       launch(1, "void nhwcAddPaddingKernel<__nv_bfloat16, __nv_bfloat16, float, true>(x)", "[264, 1, 1]"),
       launch(2, "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64", "[66, 2, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 2.0 * 4 * 64 * 9);  // counted 17,920
}

TEST(CallCost, TheBackwardPassOfA3dPoolAddsToItsResult) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[8, 32, 8, 28, 28], [8, 32, 8, 56, 56], [], [], [], [], [], [8, 32, 8, 28, 28]], )"
      R"("Input type": ["c10::Half", "c10::Half", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "long int"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::max_pool3d_with_indices_backward", .ts = 5, .dur = 50, .args = kArgs}),
       launch(1, "void at::native::(anonymous namespace)::max_pool3d_with_indices_backward_single_out_frame<c10::Half>(x)",
              "[1, 4, 2048]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 8.0 * 32 * 8 * (28 * 28 * (2 + 8) + 56 * 56 * 2));  // counted 28,873,472
}

TEST(CallCost, RunsOfEqualIndicesAreAtMostTheTablesRows) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[384, 384, 8], [384, 384], [], [], []], "Input type": ["float", "long int", "Scalar", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "32", "-1", "False"])";
  const auto loaded = test::load_events(
      test::join({test::event({.name = "aten::embedding_dense_backward", .ts = 5, .dur = 50, .args = kArgs}),
                  launch(1, "void at::native::(anonymous namespace)::krn_partial_segment_offset<long>(x)", "[1, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 2 * 8.0 * 32);  // counted 5,376, of which the most is instructions
}

TEST(CallCost, PassesOfASortOfIndicesDiffer) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[20000, 4], [], [160000, 4], [], []], "Input type": ["float", "", "float", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "", "True", "True"])";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::_index_put_impl_", .ts = 5, .dur = 50, .args = kArgs}),
       launch(1, "void at_cuda_detail::cub::detail::radix_sort::DeviceRadixSortHistogramKernel<x>(y)", "[924, 1, 1]"),
       launch(2, "void at_cuda_detail::cub::detail::radix_sort::DeviceRadixSortExclusiveSumKernel<x>(y)", "[2, 1, 1]"),
       launch(3, "void at_cuda_detail::cub::detail::radix_sort::DeviceRadixSortOnesweepKernel<x>(y)", "[28, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 8.0 * 160000);      // the keys; counted 1,295,104
  EXPECT_EQ(costs[1].bytes_read, 0);                 // counted 9,216
  EXPECT_EQ(costs[2].bytes_read, 2 * 8.0 * 160000);  // keys and positions
}

TEST(CallCost, RunsOfAnEmbeddingBagAreItsDistinctRows) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[8192, 64], [32768], [32768], [8192], [0], [], [], [], [], []], )"
      R"("Input type": ["float", "long int", "long int", "long int", "long int", "Scalar", "Scalar", "Scalar", "", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "", "", "", "20000", "False", "1", "", "-1"])";
  const auto loaded = test::load_events(
      test::join({test::event({.name = "aten::_embedding_bag_dense_backward", .ts = 5, .dur = 50, .args = kArgs}),
                  launch(1, "void at::native::(anonymous namespace)::sum_and_scatter<float, long>(x)", "[20000, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  // 20,000 (1 - exp(-1.6384)) = 16,114 rows of 256 bytes, and the keys.
  EXPECT_NEAR(costs[0].bytes_read.value_or(0), 16114 * 256.0 + 262144, 256);
  EXPECT_NEAR(costs[0].bytes_read.value_or(0), 4648704, 0.1 * 4648704);
}

// Tensors of two types are copied one by one; the one that is cast is told by the other (autocast), and only guessed.
TEST(CallCost, ACatOfTwoTypesCopiesEachTensor) {
  constexpr std::string_view kCopy =
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)#1}";
  const std::string same =
      "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<" + std::string(kCopy) + ">(x)>(y)";
  const std::string casts =
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<" + std::string(kCopy) + ">(x)>(y)";
  const auto loaded = test::load_events(test::join(
      {test::event({.name = "aten::cat",
                    .ts = 5,
                    .dur = 500,
                    .args = R"("Input Dims": [[[64, 1, 384], [64, 196, 384]], []], "Input type": ["TensorList", "Scalar"])"}),
       test::launch(1, same, "[96, 1, 1]"), test::launch(2, casts, "[9408, 1, 1]")}));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].bytes_read, 4.0 * 64 * 384);
  EXPECT_EQ(costs[1].bytes_read, 2.0 * 64 * 196 * 384);  // counted 9,652,224
  EXPECT_EQ(costs[1].estimate, Estimate::ambiguous);
}

TEST(CallCost, PartialSumsAreOfTheResultsElementsWhateverItsType) {
  struct Split {
    std::string_view op, args;
  };
  // 8 bits in; 32 and 16 out.
  constexpr Split kProducts[] = {
      {"aten::_int_mm", R"("Input Dims": [[192, 12544], [12544, 192]], "Input type": ["signed char", "signed char"])"},
      {"aten::_scaled_mm",
       R"("Input Dims": [[192, 12544], [12544, 192], [], [], [], [], [], []], )"
       R"("Input type": ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"], )"
       R"("Concrete Inputs": ["", "", "", "", "", "", "15", "False"])"}};
  for (const Split& p : kProducts) {
    const auto loaded =
        test::load_events(test::join({test::event({.name = p.op, .ts = 5, .dur = 50, .args = p.args}),
                                      launch(1, "nvjet_sm90_qqtst_64x32_64x16_1x4_h_bz_splitK_TNT", "[4, 30, 1]"),
                                      launch(2, "void cublasLt::splitKreduce_kernel<32, 16, int, float>(x)", "[6, 12, 1]")}));
    const CostModel costs(*loaded.model, {});
    EXPECT_EQ(costs[0].bytes_written, 5.0 * 192 * 192 * 4) << p.op;
    EXPECT_EQ(costs[1].bytes_read, 5.0 * 192 * 192 * 4) << p.op;
  }
}

TEST(CallCost, ALibrarysReductionOverKIsNoReductionOfAten) {
  constexpr std::string_view kArgs = R"("Input Dims": [[192, 192]], "Input type": ["float"])";
  const LaunchCost cost =
      only("mine::product", kArgs, "void cublasLt::splitKreduce_kernel<32, 16, int, float, x>(y)", "[6, 12, 1]");
  EXPECT_EQ(cost.bytes_read, std::nullopt);
  EXPECT_EQ(cost.estimate, Estimate::none);
  const LaunchCost own =
      only("aten::my_sum", kArgs, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, x>>(y)", "[1, 1, 1]");
  EXPECT_EQ(own.bytes_read, 4.0 * 192 * 192);
}

}  // namespace
}  // namespace ridge
