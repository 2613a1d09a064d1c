// Kernels of whole library calls as models of every kind launch them. The counters in comments are dram__bytes_read.sum of an
// H200.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

struct LibraryKernel {
  std::string_view name, grid;
};
struct LibraryCall {
  std::string_view op, dims, types, constants = "[]";
  std::vector<LibraryKernel> kernels = {};
};
// Of each kernel what it reads; -1: not told.
std::vector<double> reads_of_call(const LibraryCall& call) {
  const std::string args = "\"Input Dims\": " + std::string(call.dims) + ", \"Input type\": " + std::string(call.types) +
                           ", \"Concrete Inputs\": " + std::string(call.constants);
  std::string events = test::event({.name = call.op, .ts = 5, .dur = 500, .args = args});
  int correlation = 0;
  for (const LibraryKernel& k : call.kernels) events = test::join({events, test::launch(++correlation, k.name, k.grid)});
  const auto loaded = test::load_events(events);
  const CostModel costs(*loaded.model, {});
  std::vector<double> out;
  for (std::size_t i = 0; i < call.kernels.size(); ++i) out.push_back(costs[i].bytes_read.value_or(-1));
  return out;
}
void expect_counted(double read, double counted) { EXPECT_NEAR(read, counted, 0.1 * counted); }

constexpr std::string_view kAttentionTypes = R"(["float", "float", "float", "float", "", "float", "", "", "", "", "float"])";

TEST(LibraryCalls, TheGradientOfFloatAttentionReadsNoResult) {
  constexpr std::string_view kOp = "aten::_efficient_attention_backward";
  // One block has all keys of its queries: it keeps their sums. Four tensors, log-sum-exp and delta.
  const double few = reads_of_call(
      {.op = kOp,
       .dims = "[[4096,24,8,8],[4096,24,8,8],[4096,24,8,8],[4096,24,8,8],[],[4096,24,8,8],[],[],[],[],[4096,8,32]]",
       .types = kAttentionTypes,
       .kernels = {{"fmha_cutlassB_f32_aligned_64x64_k32_dropout_sm80(x)", "[1, 8, 4096]"}}})[0];
  EXPECT_EQ(few, 4.0 * (4 * 4096 * 24 * 64 + 2 * 4096 * 24 * 8));
  expect_counted(few, 108122880);
  // Eight ranges of keys: sums of 64 x 64 for each tile of 64 queries of depth 32.
  const double many = reads_of_call(
      {.op = kOp,
       .dims = "[[64,512,4,32],[64,512,4,32],[64,512,4,32],[64,512,4,32],[],[64,512,4,32],[],[],[],[],[64,4,512]]",
       .types = kAttentionTypes,
       .kernels = {{"fmha_cutlassB_f32_aligned_64x64_k32_dropout_sm80(x)", "[8, 4, 64]"}}})[0];
  EXPECT_EQ(many, 4.0 * (4 * 64 * 512 * 128 + 2 * 64 * 512 * 4 + 64 * 4 * 8 * 64 * 64));
  expect_counted(many, 102009344);
}

TEST(LibraryCalls, AtensBatchNormGradientPassesTwice) {
  const double read = reads_of_call(
      {.op = "aten::native_batch_norm_backward",
       .dims = "[[48,768,32,32],[48,768,32,32],[768],[768],[768],[768],[768],[],[],[]]",
       .types = R"(["c10::BFloat16","c10::BFloat16","float","float","float","float","float","Scalar","Scalar",""])",
       .kernels = {{"void at::native::batch_norm_backward_kernel<c10::BFloat16, float, float, int>(x)", "[768, 1, 1]"}}})[0];
  expect_counted(read, 292632832);
}

TEST(LibraryCalls, AHelperOfADepthwiseConvolutionBringsItsWeights) {
  constexpr std::string_view kTiling =
      "sm90_xmma_depthwise_convolution_fprop_tiling_f16f16_f32f32_f32_nhwckrsc_nhwc_tilesize1x4x4_1x5x5_";
  const auto reads =
      reads_of_call({.op = "aten::cudnn_convolution",
                     .dims = "[[96,120,28,28],[120,1,5,5],[],[],[],[],[],[],[]]",
                     .types = R"(["c10::Half","c10::Half"])",
                     .constants = R"(["","","[2, 2]","[1, 1]","[1, 1]","120","False","False","True"])",
                     .kernels = {{std::string(kTiling) + "betaFalse_execute_helper_kernel__5x_cudnn", "[24, 1, 1]"},
                                 {std::string(kTiling) + "betaFalse_execute_kernel__5x_cudnn", "[1, 2, 198]"}}});
  EXPECT_EQ(reads[0], 2.0 * 120 * 25);
  expect_counted(reads[1], 18097664);
}

TEST(LibraryCalls, AKernelWithAPlainNameUnderAnOpDoesItsWork) {
  const auto forward = reads_of_call({.op = "aten::cudnn_convolution",
                                      .dims = "[[16,384,1,300],[384,1,1,31],[],[],[],[],[],[],[]]",
                                      .types = R"(["c10::Half","c10::Half"])",
                                      .constants = R"(["","","[0, 15]","[1, 1]","[1, 1]","384","False","False","True"])",
                                      .kernels = {{"conv1D_NCHW", "[384, 2, 1]"}}});
  expect_counted(forward[0], 3722496);
  const auto backward = reads_of_call(
      {.op = "aten::convolution_backward",
       .dims = "[[16,1,16384],[16,16,16384],[1,16,7],[],[],[],[],[],[],[],[]]",
       .types = R"(["float","float","float"])",
       .constants = R"(["","","","[1]","[1]","[3]","[1]","False","[0]","1","[True, True, False]"])",
       .kernels = {{"void compute_valid_masks_kernel<int, float, float>(x)", "[64, 1, 1]"},
                   {"void conv2d_precomputed_common_engine::convolution_sm5x<float, float, 1, 1, 2>(x)", "[2048, 1, 1]"},
                   {"void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(x)", "[4, 1, 512]"}}});
  expect_counted(backward[1], 1139712);  // the input's gradient, not a half of the weight's
  expect_counted(backward[2], 17845248);
}

TEST(LibraryCalls, AGroupNormOfOneValueForEachChannelHasNoSums) {
  const auto reads = reads_of_call(
      {.op = "aten::native_group_norm_backward",
       .dims = "[[8192,512],[8192,512],[8192,8],[8192,8],[512],[],[],[],[],[]]",
       .types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","","","","",""])",
       .kernels = {
           {"void at::native::(anonymous namespace)::Compute1dBackwardFusedParamsCUDAKernel<c10::BFloat16>(x)", "[8192, 8, 1]"},
           {"void at::native::(anonymous namespace)::GammaBeta1dBackwardCUDAKernel2<c10::BFloat16>(x)", "[16, 1, 1]"}}});
  expect_counted(reads[0], 17051392);
  expect_counted(reads[1], 17049088);
}

constexpr std::string_view kConvolutionTypes =
    R"(["c10::BFloat16","c10::BFloat16","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])";
constexpr std::string_view kGradientTypes =
    R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])";

TEST(LibraryCalls, EachRowOfChannelTilesTakesTheWholeInput) {
  // Patches of 7 x 7, 3 rows of 256 channels; the three input channels are padded to eight.
  const auto reads = reads_of_call(
      {.op = "aten::cudnn_convolution",
       .dims = "[[48,3,224,224],[768,3,7,7],[],[],[],[],[],[],[]]",
       .types = kConvolutionTypes,
       .constants = R"(["","","[0, 0]","[7, 7]","[1, 1]","1","False","False","True"])",
       .kernels = {
           {"void nhwcAddPaddingKernel<__nv_bfloat16, __nv_bfloat16, float, true>(x)", "[264, 1, 1]"},
           {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8>(x)",
            "[768, 3, 1]"}}});
  expect_counted(reads[1], 115915776);
}

TEST(LibraryCalls, EachWaveOfAWeightsGradientGoesOverAllPositions) {
  constexpr std::string_view kConstants =
      R"(["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[False, True, False]"])";
  // 576 tiles of 128 x 128, 132 at a time.
  const double deep = reads_of_call({.op = "aten::convolution_backward",
                                     .dims = "[[4,512,28,28],[4,2048,28,28],[512,2048,3,3],[],[],[],[],[],[],[],[]]",
                                     .types = kGradientTypes,
                                     .constants = kConstants,
                                     .kernels = {{"sm90_xmma_wgrad_indexed_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_"
                                                  "tilesize128x128x32_warpgroupsize1x1x1_g1_execute_kernel__5x_cudnn",
                                                  "[132, 1, 1]"}}})[0];
  expect_counted(deep, 125120512);
  // Nine tiles, several blocks for each: one pass.
  const double flat = reads_of_call({.op = "aten::convolution_backward",
                                     .dims = "[[64,128,28,28],[64,128,28,28],[128,128,3,3],[],[],[],[],[],[],[],[]]",
                                     .types = kGradientTypes,
                                     .constants = kConstants,
                                     .kernels = {{"sm90_xmma_wgrad_indexed_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_"
                                                  "tilesize128x128x32_warpgroupsize1x1x1_g1_execute_kernel__5x_cudnn",
                                                  "[126, 1, 1]"}}})[0];
  EXPECT_EQ(flat, 2 * 4.0 * 64 * 128 * 28 * 28);  // counted 52,137,216
}

TEST(LibraryCalls, WhatPadsBehindTheGradientBringsItBack) {
  // The first layer of a network for images: the input is padded, the gradient converted; behind them the weight's gradient is
  // brought back.
  const auto reads = reads_of_call(
      {.op = "aten::convolution_backward",
       .dims = "[[64,64,112,112],[64,3,224,224],[64,3,7,7],[],[],[],[],[],[],[],[]]",
       .types = kGradientTypes,
       .constants = R"(["","","","[0]","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1","[False, True, False]"])",
       .kernels = {{"void nhwcAddPaddingKernel<float, float, float, true, (cudnnKernelDataType_t)2>(x)", "[264, 1, 1]"},
                   {"void cudnn::engines_precompiled::convertTensor_kernel<float, float, float, (cudnnKernelDataType_t)2>(x)",
                    "[4096, 1, 1]"},
                   {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688wgrad_optimized_tf32_64x64_32x3_nhwc_align4>(x)",
                    "[4, 1, 120]"},
                   {"void nhwcAddPaddingKernel<float, float, float, true, (cudnnKernelDataType_t)0>(x)", "[264, 1, 1]"}}});
  expect_counted(reads[0], 83121664);
  expect_counted(reads[1], 205537280);
  EXPECT_EQ(reads[3], 4.0 * 64 * 4 * 49);  // counted 60,416
}

TEST(LibraryCalls, TheInputComesBeforeTheGradientOfTheOutput) {
  // Both fit the grid: 8 and 32 channels are one block each.
  const auto reads = reads_of_call(
      {.op = "aten::convolution_backward",
       .dims = "[[4,8,96,128],[4,32,96,128],[8,32,1,1],[],[],[],[],[],[],[],[]]",
       .types = kGradientTypes,
       .constants = R"(["","","","[0]","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1","[False, True, False]"])",
       .kernels = {{"void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, false, true>(x)", "[384, 1, 4]"},
                   {"void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, false, true>(x)", "[384, 1, 4]"},
                   {"sm80_xmma_wgrad_implicit_gemm_indexed_wo_smem_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize16x64x64_stage1",
                    "[1, 1, 90]"}}});
  EXPECT_EQ(reads[0], 4.0 * 4 * 32 * 96 * 128);  // counted 6,300,928
  EXPECT_EQ(reads[1], 4.0 * 4 * 8 * 96 * 128);   // counted 1,582,592
}

TEST(LibraryCalls, PiecesOfSectorsAreCompleted) {
  // 21 tensors of 3 values for each row of 63: each sector of the result is written by several. Counted 62,211,328.
  std::string dims = "[[[2048,64,3]";
  for (int i = 1; i < 21; ++i) dims += ",[2048,64,3]";
  constexpr std::string_view kCat =
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy_alignedK_contig<at::native::(anonymous "
      "namespace)::OpaqueType<4u>, unsigned int, 3, 128, 1>(x)";
  const double read = reads_of_call({.op = "aten::cat",
                                     .dims = dims + "],[]]",
                                     .types = R"(["TensorList","Scalar"])",
                                     .constants = R"(["","-1"])",
                                     .kernels = {{kCat, "[768, 21, 1]"}}})[0];
  expect_counted(read, 62211328);
  // Rows of whole sectors need nothing.
  const double whole = reads_of_call({.op = "aten::cat",
                                      .dims = "[[[131072,64],[131072,64]],[]]",
                                      .types = R"(["TensorList","Scalar"])",
                                      .constants = R"(["","-1"])",
                                      .kernels = {{kCat, "[768, 2, 1]"}}})[0];
  EXPECT_EQ(whole, 2 * 4.0 * 131072 * 64);
}

TEST(LibraryCalls, RowsOfEqualIndicesAreAddedUpByTens) {
  const double read = reads_of_call(
      {.op = "aten::embedding_dense_backward",
       .dims = "[[32768,64],[32768],[],[],[]]",
       .types = R"(["float","long int","Scalar","Scalar","Scalar"])",
       .constants = R"(["","","1024","-1","False"])",
       .kernels = {{"void at::native::(anonymous namespace)::sum_and_scatter<float, long>(x)", "[1024, 1, 1]"}}})[0];
  EXPECT_NEAR(read, 872704, 0.15 * 872704);  // its indices are not spread evenly
}

TEST(LibraryCalls, WhatPadsBehindATransposedConvolutionReadsThePaddedResult) {
  const auto reads = reads_of_call(
      {.op = "aten::cudnn_convolution_transpose",
       .dims = "[[32,128,64,64],[128,3,4,4],[],[],[],[],[],[],[],[]]",
       .types =
           R"(["c10::BFloat16","c10::BFloat16","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
       .constants = R"(["","","[1, 1]","[0, 0]","[2, 2]","[1, 1]","1","False","False","True"])",
       .kernels = {{"void nhwcAddPaddingKernel<__nv_bfloat16, __nv_bfloat16, float, true>(x)", "[264, 1, 1]"},
                   {"sm90_xmma_dgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize256x64x64_"
                    "warpgroupsize1x1x1_g1_strided_execute_kernel__5x_cudnn",
                    "[30, 4, 1]"},
                   {"void nhwcAddPaddingKernel<__nv_bfloat16, __nv_bfloat16, float, true>(x)", "[264, 1, 1]"}}});
  EXPECT_EQ(reads[2], 2.0 * 32 * 8 * 128 * 128);  // counted 8,397,824
}

TEST(LibraryCalls, ASemiPersistentBatchNormKeepsGroupAfterGroupOfChannels) {
  const auto read = [](std::string_view op, std::string_view dims, std::string_view kernel) {
    return reads_of_call(
        {.op = op,
         .dims = dims,
         .types = R"(["c10::Half","c10::Half","float","float","float","float","float","Scalar","unsigned char"])",
         .kernels = {{kernel, "[264, 1, 1]"}}})[0];
  };
  constexpr std::string_view kBackward =
      "void cudnn::batchnorm_bwtr_nhwc_semiPersist<__half, float, __half, 512, 16, 3, 4, 1, 0, true, 2>(x)";
  // 16-bit values: 46 MB of each group of 64 channels.
  expect_counted(read("aten::cudnn_batch_norm_backward", "[[64,256,56,56],[64,256,56,56],[256],[256],[256],[256],[256],[],[0]]",
                      kBackward),
                 247823872);
  expect_counted(
      read("aten::cudnn_batch_norm_backward", "[[64,64,112,112],[64,64,112,112],[64],[64],[64],[64],[64],[],[0]]", kBackward),
      361000000);
}

TEST(LibraryCalls, KernelsForTheFirstLayerTakeChannelsByFour) {
  const auto reads = reads_of_call(
      {.op = "aten::cudnn_convolution",
       .dims = "[[64,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]",
       .types = R"(["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
       .constants = R"(["","","[3, 3]","[2, 2]","[1, 1]","1","False","False","True"])",
       .kernels = {{"void nhwcAddPaddingKernel<__half, __half, float, true, (cudnnKernelDataType_t)0>(x)", "[264, 1, 1]"},
                   {"sm90_xmma_fprop_image_first_layer_f16f16_f32_f16_nhwckrsc_nhwc_hmma_k64c4r7s7_stride2x2_tile16x64x64_"
                    "tensor1688_execute_kernel_kernel__5x_cudnn",
                    "[2, 7, 64]"}}});
  expect_counted(reads[0], 38635008);
  expect_counted(reads[1], 26020096);
}

TEST(LibraryCalls, APickAlongTheLastDimensionReadsNoRowTwice) {
  // Relative positions of an attention, the same for each head: at most the table of 50 MB and the indices (counted 25,966,592
  // of it), where picks from anywhere would read it ten times.
  const double read =
      reads_of_call({.op = "aten::gather",
                     .dims = "[[192,256,512],[],[192,256,256],[]]",
                     .types = R"(["c10::Half","Scalar","long int","Scalar"])",
                     .constants = R"(["","-1","","False"])",
                     .kernels = {{"void at::native::_scatter_gather_elementwise_kernel<128, 8, x>(y)", "[12288, 1, 1]"}}})[0];
  EXPECT_LE(read, 2.0 * 192 * 256 * 512 + 8.0 * 192 * 256 * 256);
}

}  // namespace
}  // namespace ridge
