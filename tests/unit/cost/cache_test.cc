// What leaves the cache before its next use and is read again. The counters in comments are dram__bytes_read.sum of an H200;
// each estimate must be within 10 % of them, as the rules' own tolerance is.
#include <string>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

struct Case {
  std::string_view op, args, kernel, grid, block;
};
LaunchCost cost_of(const Case& c) {
  const auto loaded = test::load_events(test::join(
      {test::event({.name = c.op, .ts = 5, .dur = 500, .args = c.args}), test::launch(1, c.kernel, c.grid, c.block)}));
  return CostModel(*loaded.model, {})[0];
}
void expect_ambiguous_near(const LaunchCost& cost, double counted) {
  EXPECT_NEAR(cost.bytes_read.value_or(0), counted, 0.1 * counted);
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);
}

TEST(Cache, AProductReadsAnOperandAgainForEachGroupOfTiles) {
  // 42 tiles of rows in 6 groups, each past all 134 MB of weights: 150,601,728 + 5 * 134,217,728, and a little where a wave has
  // two groups.
  const LaunchCost wide =
      cost_of({"aten::mm", R"("Input Dims": [[8000, 1024], [1024, 65536]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", "[384, 1, 1]"});
  EXPECT_NEAR(wide.bytes_read.value_or(0), 150601728 + 5 * 134217728.0, 4e6);
  expect_ambiguous_near(wide, 782745344);
  // The transposed kind: 13 tiles of rows in 2 groups.
  expect_ambiguous_near(
      cost_of({"aten::mm", R"("Input Dims": [[4096, 1024], [1024, 32000]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", "[384, 1, 1]"}),
      125200000);
  // A small operand whose groups take 25 MB: 16 of them.
  expect_ambiguous_near(
      cost_of({"aten::mm", R"("Input Dims": [[32000, 4096], [4096, 1024]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", "[384, 1, 1]"}),
      419200000);
}

TEST(Cache, AProductWhoseGroupsStayReadsOnce) {
  // Groups of 9 MB stay; a result of one wave needs nothing twice, however deep the product.
  const LaunchCost stays =
      cost_of({"aten::mm", R"("Input Dims": [[8000, 1024], [1024, 1024]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNN", "[2, 66, 1]", "[384, 1, 1]"});
  EXPECT_EQ(stays.bytes_read, 2.0 * (8000 * 1024 + 1024 * 1024));
  EXPECT_EQ(stays.estimate, Estimate::exact);
  const LaunchCost wave =
      cost_of({"aten::mm", R"("Input Dims": [[4096, 32000], [32000, 1024]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 64, 1]", "[384, 1, 1]"});
  EXPECT_EQ(wave.bytes_read, 2.0 * 32000 * (4096 + 1024));  // counted 327,700,000
}

TEST(Cache, NothingLeavesItBeforeItIsFull) {
  // Two groups that take 17 MB each, of a product that takes 31 MB in all; counted 23,200,000 with the scales of rows and
  // columns.
  const LaunchCost cost =
      cost_of({"aten::_scaled_mm",
               R"("Input Dims": [[2048, 5632], [5632, 2048], [2048, 1], [1, 2048], [], [], [], []], )"
               R"("Input type": ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
               "nvjet_sm90_qqtst_128x128_128x6_2x1_v_bz_ovscale_TNT", "[2, 66, 1]", "[384, 1, 1]"});
  EXPECT_EQ(cost.bytes_read, 2.0 * 2048 * 5632 + 2 * 4.0 * 2048);
}

TEST(Cache, GroupsThatHardlyStayAreReadAgainInPart) {
  const auto product = [](std::string_view dims, std::string_view kernel) {
    return cost_of({"aten::mm",
                    "\"Input Dims\": " + std::string(dims) + R"(, "Input type": ["c10::BFloat16", "c10::BFloat16"])", kernel,
                    "[2, 66, 1]", "[384, 1, 1]"});
  };
  expect_ambiguous_near(product("[[32000, 2048], [2048, 1024]]", "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN"), 173296128);
  expect_ambiguous_near(product("[[50304, 2048], [2048, 512]]", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NTT"), 215700000);
  expect_ambiguous_near(product("[[3072, 1536], [1536, 10240]]", "nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT"), 66900000);
}

TEST(Cache, WithoutAGridNothingIsToldOfGroups) {
  for (const std::string_view kernel : {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN",
                                        "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x256x32_execute_kernel"}) {
    const LaunchCost cost = cost_of(
        {"aten::mm", R"("Input Dims": [[16384, 4096], [4096, 12288]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
         kernel, "[0, 0, 0]", "[384, 1, 1]"});
    EXPECT_GE(cost.bytes_read.value_or(0), 2.0 * 4096 * (16384 + 12288)) << kernel;
    EXPECT_EQ(cost.estimate, Estimate::ambiguous) << kernel;
  }
}

TEST(Cache, WhatIsWrittenBesideAGroupMakesItsReadingAGuess) {
  // Groups of 6 MB and their results of 4 MB, 11 of them: counted 40,192,768.
  const LaunchCost cost =
      cost_of({"aten::_scaled_mm",
               R"("Input Dims": [[2048, 2048], [2048, 11264], [2048, 1], [1, 11264], [], [], [], []], )"
               R"("Input type": ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
               "nvjet_sm90_qqtst_128x128_128x6_2x1_v_bz_ovscale_TNT", "[2, 66, 1]", "[384, 1, 1]"});
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);
}

TEST(Cache, ColumnsOfTilesReadTheRowsAgain) {
  const auto product = [](std::string_view dims, std::string_view tile, std::string_view grid) {
    const std::string kernel =
        "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize" + std::string(tile) + "_warpgroupsize1x1x1_execute_kernel__5x_cublas";
    return cost_of({"aten::mm", "\"Input Dims\": " + std::string(dims) + R"(, "Input type": ["float", "float"])", kernel, grid,
                    "[384, 1, 1]"});
  };
  expect_ambiguous_near(product("[[3612, 2560], [2560, 640]]", "64x128x32", "[39, 3, 1]"), 84441600);  // 2.4 waves past 37 MB
  expect_ambiguous_near(product("[[3612, 1920], [1920, 640]]", "64x128x32", "[39, 3, 1]"),
                        40525312);  // past 28 MB, most of which stays
  expect_ambiguous_near(product("[[32768, 768], [768, 192]]", "128x128x32", "[132, 1, 1]"),
                        194449408);  // two columns past 101 MB
  expect_ambiguous_near(product("[[32768, 192], [192, 768]]", "128x128x32", "[132, 1, 1]"),
                        76500000);  // six columns past 25 MB
}

TEST(Cache, PhasesOfAStridedGradientReadItAgain) {
  const auto gradient = [](std::string_view dims) {
    return cost_of(
        {"aten::convolution_backward",
         "\"Input Dims\": [" + std::string(dims) +
             R"(, [], [], [], [], [], [], [], []], "Input type": ["float", "float", "float"], )"
             R"("Concrete Inputs": ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, False, False]"])",
         "sm90_xmma_dgrad_implicit_gemm_indexed_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x32_g1_strided_execute_kernel",
         "[132, 1, 1]", "[384, 1, 1]"});
  };
  expect_ambiguous_near(gradient("[8, 128, 128, 128], [8, 64, 256, 256], [128, 64, 3, 3]"), 268807936);
  // Of a kernel of one position only one phase computes; counted 25,793,280.
  EXPECT_EQ(gradient("[64, 128, 28, 28], [64, 64, 56, 56], [128, 64, 1, 1]").bytes_read, 4.0 * (64 * 128 * 28 * 28 + 128 * 64));
  EXPECT_EQ(gradient("[64, 256, 14, 14], [64, 128, 28, 28], [256, 128, 3, 3]").bytes_read,
            4.0 * (64 * 256 * 14 * 14 + 256 * 128 * 9));  // 13 MB stay; counted 14,222,336
}

TEST(Cache, SlicesOfASerialSplitReadTheResult) {
  const LaunchCost cost =
      cost_of({"aten::mm", R"("Input Dims": [[20000, 2048], [2048, 512]], "Input type": ["float", "float"])",
               "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(x)", "[316, 1, 2]", "[256, 1, 1]"});
  EXPECT_EQ(cost.bytes_read, 4.0 * (20000 * 2048 + 2048 * 512 + 20000 * 512));
  expect_ambiguous_near(cost, 217035520);
  // A result of 5 MB stays from one slice to the next; counted 37,104,640.
  EXPECT_EQ(
      cost_of({"aten::mm", R"("Input Dims": [[1920, 3612], [3612, 640]], "Input type": ["float", "float"])",
               "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align4>(x)", "[60, 2, 3]", "[128, 1, 1]"})
          .bytes_read,
      4.0 * 3612 * (1920 + 640));
}

TEST(Cache, SlicesThatTakeHalfOfItLeaveNothingOfTheResult) {
  // Ten of eleven slices of 26 MB read the 3 MB that the one before left.
  const LaunchCost cost = cost_of(
      {"aten::mm", R"("Input Dims": [[2048, 50265], [50265, 768]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
       "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1>(x)", "[64, 1, 11]", "[256, 1, 1]"});
  EXPECT_EQ(cost.bytes_read, 2.0 * (50265 * (2048 + 768) + 10 * 2048 * 768));
  EXPECT_NEAR(*cost.bytes_read, 315758336, 4e6);
}

TEST(Cache, RowsOfOutputChannelsReadTheInputAgain) {
  const auto patches = [](std::string_view x, std::string_view w, std::string_view stride, std::string_view grid) {
    return cost_of(
        {"aten::cudnn_convolution",
         "\"Input Dims\": [" + std::string(x) + ", " + std::string(w) +
             R"(, [], [], [], [], [], [], []], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Concrete Inputs": ["", "", "[0, 0]", ")" +
             std::string(stride) + R"(", "[1, 1]", "1", "False", "False", "True"])",
         "void implicit_convolve_sgemm<__nv_bfloat16, __nv_bfloat16, 128, 5, 5, 3, 3, 3, 1, false, false, true>(x)", grid,
         "[8, 8, 1]"});
  };
  // Twelve rows of tiles, of which the device works on 3.6 at a time: 29 MB hardly stay, 19 MB do.
  expect_ambiguous_near(patches("[96, 3, 224, 224]", "[384, 3, 16, 16]", "[16, 16]", "[588, 12, 1]"), 42520064);
  EXPECT_EQ(patches("[64, 3, 224, 224]", "[384, 3, 16, 16]", "[16, 16]", "[392, 12, 1]").bytes_read,
            2.0 * (64 * 3 * 224 * 224 + 384 * 3 * 256));  // counted 19,929,000
  // Two rows, between which 100 MB are written.
  expect_ambiguous_near(patches("[32, 3, 226, 226]", "[64, 3, 3, 3]", "[1, 1]", "[50176, 2, 1]"), 19390976);
}

TEST(Cache, LongRowsOfASoftmaxAreReadInEachPass) {
  constexpr std::string_view kForward =
      "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, x>(y)";
  const auto forward = [&](std::string_view dims) {
    return cost_of({"aten::_log_softmax",
                    "\"Input Dims\": [[" + std::string(dims) +
                        R"(], [], []], "Input type": ["float", "Scalar", "Scalar"], "Concrete Inputs": ["", "1", "False"])",
                    kForward, "[2048, 1, 1]", "[1024, 1, 1]"});
  };
  expect_ambiguous_near(forward("2048, 50304"), 1152394752);  // 264 rows of 201 KB in work
  expect_ambiguous_near(forward("2048, 32000"), 460654080);
  EXPECT_EQ(forward("2048, 16000").bytes_read, 4.0 * 2048 * 16000);  // 17 MB stay
  expect_ambiguous_near(forward("2048, 50265"), 973393664);          // rows that start anywhere
  expect_ambiguous_near(
      cost_of({"aten::_log_softmax_backward_data",
               R"("Input Dims": [[2048, 32000], [2048, 32000], [], []], "Input type": ["float", "float", "Scalar", "Scalar"])",
               "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, x>(y)", "[2048, 1, 1]",
               "[512, 1, 1]"}),
      724973056);
}

TEST(Cache, ChannelsInWorkDecideWhatABatchNormReadsTwice) {
  const auto backward = [](std::string_view x, std::string_view channels) {
    return cost_of({"aten::native_batch_norm_backward",
                    "\"Input Dims\": [" + std::string(x) + ", " + std::string(x) +
                        R"(], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
                    "void at::native::batch_norm_backward_kernel<c10::BFloat16, float, float, int>(x)", channels,
                    "[512, 1, 1]"})
        .bytes_read.value_or(0);
  };
  EXPECT_NEAR(backward("[4, 128, 128, 128]", "[128, 1, 1]"), 35473408, 2e6);
  EXPECT_NEAR(backward("[32, 512, 28, 28]", "[512, 1, 1]"), 97643000, 6e6);
  EXPECT_NEAR(backward("[4, 256, 128, 128]", "[256, 1, 1]"), 133939000, 1e6);
  // Forward: 39 MB are read, and as much is written by the second pass.
  EXPECT_NEAR(
      cost_of({"aten::cudnn_batch_norm", R"("Input Dims": [[96, 64, 56, 56]], "Input type": ["c10::Half"])",
               "void cudnn::bn_fw_tr_1C11_kernel_NCHW<__half, float, int, 128, true, 1, true>(x)", "[64, 1, 1]", "[128, 1, 1]"})
          .bytes_read.value_or(0),
      70853120, 4e6);
  // 528 of 4096 channels at a time: of 67 MB they take 9.
  EXPECT_EQ(backward("[4, 4096, 32, 32]", "[4096, 1, 1]"), 2 * 2.0 * 4 * 4096 * 32 * 32);
}

TEST(Cache, PickedRowsLeaveItBesideAStream) {
  // 160,000 picks of 1 KB among 20,000: the result streams 164 MB past the 20 MB table. The index, which is not recorded, has a
  // row each.
  const LaunchCost gather = cost_of({"aten::index", R"("Input Dims": [[20000, 4, 64], []], "Input type": ["float", ""])",
                                     "void at::native::vectorized_gather_kernel<16, long>(x)", "[160000, 1, 1]", "[64, 1, 1]"});
  expect_ambiguous_near(gather, 64080896);
  const LaunchCost add = cost_of(
      {"aten::index_add",
       R"("Input Dims": [[20000, 4, 64], [], [160000], [160000, 4, 64], []], "Input type": ["float", "Scalar", "long int", "float", "Scalar"], "Concrete Inputs": ["", "0", "", "", "1"])",
       "void at::native::indexFuncLargeIndex<float, long, unsigned int, 2, 2, -2, true, x>(y)", "[1056, 1, 1]", "[128, 1, 1]"});
  EXPECT_NEAR(add.bytes_read.value_or(0), 209105920, 0.1 * 209105920);
}

TEST(Cache, AColumnsSoftmaxIsReadInEachPass) {
  // All 4096 columns are in work: 67 MB, three times.
  const auto along = [](std::string_view dims) {
    return cost_of({"aten::_softmax",
                    "\"Input Dims\": [[" + std::string(dims) +
                        R"(], [], []], "Input type": ["float", "Scalar", "Scalar"], "Concrete Inputs": ["", "0", "False"])",
                    "void at::native::(anonymous namespace)::cunn_SpatialSoftMaxForward<float, float, float, int, x>(y)",
                    "[1, 4, 1]", "[1, 1024, 1]"});
  };
  expect_ambiguous_near(along("4096, 4096"), 199405312);
  EXPECT_EQ(along("1024, 4096").bytes_read, 4.0 * 1024 * 4096);  // 17 MB stay
}

TEST(Cache, WavesOfACutlassProductReadTheGroupAgain) {
  // 3 x 239 tiles in waves of 132, each with all 9 MB of the smaller operand.
  expect_ambiguous_near(
      cost_of({"aten::mm", R"("Input Dims": [[30522, 6144], [6144, 768]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x6_nt_align8>(x)", "[956, 1, 1]",
               "[256, 1, 1]"}),
      431456512);
  expect_ambiguous_near(
      cost_of({"aten::mm", R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float", "float"])",
               "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(x)", "[256, 2, 1]", "[256, 1, 1]"}),
      232196608);
  const LaunchCost small =
      cost_of({"aten::mm", R"("Input Dims": [[2048, 2048], [2048, 2048]], "Input type": ["float", "float"])",
               "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(x)", "[128, 1, 1]", "[256, 1, 1]"});
  EXPECT_EQ(small.bytes_read, 2 * 4.0 * 2048 * 2048);
  EXPECT_EQ(small.estimate, Estimate::exact);
}

TEST(Cache, AProductInAnUnknownOrderIsAmbiguousWhereItIsLarger) {
  constexpr std::string_view kKernel = "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_x";
  const auto product = [&](std::string_view dims) {
    return cost_of({"aten::mm", "\"Input Dims\": [" + std::string(dims) + R"(], "Input type": ["float", "float"])", kKernel,
                    "[132, 1, 1]", "[384, 1, 1]"});
  };
  EXPECT_EQ(product("[32768, 768], [768, 192]").estimate, Estimate::ambiguous);  // counted 194,449,408 of 101,253,120
  EXPECT_EQ(product("[1024, 768], [768, 192]").estimate, Estimate::exact);
}

TEST(Cache, ATensorThatIsRepeatedIsReadAgainWhereItDoesNotStay) {
  const auto repeat = [](std::string_view rows) {
    const std::string n(rows);
    return cost_of({"aten::copy_",
                    "\"Input Dims\": [[2, " + n + ", 4096], [2, " + n + R"(, 4096], []], "Input Strides": [[)" + n +
                        "096, 4096, 1], [0, 4096, 1], []]" + R"(, "Input type": ["float", "float", "Scalar"])",
                    "void at::native::elementwise_kernel<128, 2, x>(y)", "[131072, 1, 1]", "[128, 1, 1]"});
  };
  EXPECT_EQ(repeat("4096").bytes_read, 2 * 4.0 * 4096 * 4096);  // counted 134,231,040
  EXPECT_EQ(repeat("1024").bytes_read, 4.0 * 1024 * 4096);
  // A row that is repeated stays however large the result is.
  const LaunchCost bias =
      cost_of({"aten::add", R"("Input Dims": [[8192, 4096], [4096], []], "Input type": ["float", "float", "Scalar"])",
               "void at::native::elementwise_kernel<128, 2, x>(y)", "[131072, 1, 1]", "[128, 1, 1]"});
  EXPECT_EQ(bias.bytes_read, 4.0 * (8192 * 4096 + 4096));
}

// The limits stretch with the device's cache: what an H200 (60 MB) keeps, an A100 (40 MB) does not.
TEST(Cache, LimitsAreTheDevices) {
  const Case columns{
      "aten::_softmax",
      R"("Input Dims": [[1152, 4096], [], []], "Input type": ["float", "Scalar", "Scalar"], "Concrete Inputs": ["", "0", "False"])",
      "void at::native::(anonymous namespace)::cunn_SpatialSoftMaxForward<float, float, float, int, x>(y)", "[1, 4, 1]",
      "[1, 1024, 1]"};
  const auto loaded =
      test::load_events(test::join({test::event({.name = columns.op, .ts = 5, .dur = 500, .args = columns.args}),
                                    test::launch(1, columns.kernel, columns.grid, columns.block)}));
  const auto read = [&](std::string_view name) {
    CostOptions options;
    if (!name.empty()) options.device = **find_device(name);
    return CostModel(*loaded.model, options)[0].bytes_read.value_or(0);
  };
  const double once = 4.0 * 1152 * 4096;
  EXPECT_EQ(read("h200"), once);
  EXPECT_EQ(read(""), once);  // not known: as an H200
  EXPECT_GT(read("a100 sxm 80gb"), 1.1 * once);
  EXPECT_EQ(read("mi300x"), once);  // 256 MB beside the memory
}

}  // namespace
}  // namespace ridge
