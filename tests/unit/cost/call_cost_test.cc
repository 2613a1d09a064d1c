// The part of an op that a kernel does, by hand-made launches. The counters in comments are dram__bytes_read.sum of an H200.
#include <string_view>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

constexpr std::string_view kDevice = R"("device": 0, "stream": 7, "block": [128, 1, 1], "correlation": )";

// A launch with a grid.
std::string launch(int correlation, std::string_view kernel, std::string_view grid) {
  const std::string id = std::to_string(correlation);
  return test::join({test::event({.name = "cudaLaunchKernel",
                                  .ts = 10 + correlation,
                                  .dur = 1,
                                  .cat = "cuda_runtime",
                                  .args = "\"correlation\": " + id}),
                     test::event({.name = kernel,
                                  .ts = 100 + 10 * correlation,
                                  .dur = 5,
                                  .cat = "kernel",
                                  .args = std::string(kDevice) + id + ", \"grid\": " + std::string(grid),
                                  .tid = 7})});
}

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

}  // namespace
}  // namespace ridge
