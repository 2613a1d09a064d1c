// What leaves the cache before its next use and is read again. The counters in comments are dram__bytes_read.sum of an H200; each estimate
// must be within 10 % of them, as the rules' own tolerance is.
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
void expect_near(const LaunchCost& cost, double counted) {
  EXPECT_NEAR(cost.bytes_read.value_or(0), counted, 0.1 * counted);
  EXPECT_EQ(cost.estimate, Estimate::ambiguous);
}

TEST(Cache, AProductReadsAnOperandAgainForEachGroupOfTiles) {
  // 42 tiles of rows in 6 groups, each past all 134 MB of weights: 150,601,728 + 5 (134,217,728 - 8,000,000).
  const LaunchCost wide =
      cost_of({"aten::mm", R"("Input Dims": [[8000, 1024], [1024, 65536]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", "[384, 1, 1]"});
  EXPECT_EQ(wide.bytes_read, 150601728 + 5 * (134217728 - 8e6));
  expect_near(wide, 782745344);
  // The transposed kind: 13 tiles of rows in 2 groups.
  expect_near(
      cost_of({"aten::mm", R"("Input Dims": [[4096, 1024], [1024, 32000]], "Input type": ["c10::BFloat16", "c10::BFloat16"])",
               "nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", "[384, 1, 1]"}),
      125200000);
  // A small operand whose groups take 25 MB: 16 of them.
  expect_near(
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

TEST(Cache, SlicesOfASerialSplitReadTheResult) {
  const LaunchCost cost =
      cost_of({"aten::mm", R"("Input Dims": [[20000, 2048], [2048, 512]], "Input type": ["float", "float"])",
               "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(x)", "[316, 1, 2]", "[256, 1, 1]"});
  EXPECT_EQ(cost.bytes_read, 4.0 * (20000 * 2048 + 2048 * 512 + 20000 * 512));
  expect_near(cost, 217035520);
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
  expect_near(forward("2048, 50304"), 1152394752);  // 264 rows of 201 KB in work
  expect_near(forward("2048, 32000"), 460654080);
  EXPECT_EQ(forward("2048, 16000").bytes_read, 4.0 * 2048 * 16000);  // 17 MB stay
  expect_near(
      cost_of({"aten::_log_softmax_backward_data",
               R"("Input Dims": [[2048, 32000], [2048, 32000], [], []], "Input type": ["float", "float", "Scalar", "Scalar"])",
               "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, x>(y)", "[2048, 1, 1]",
               "[512, 1, 1]"}),
      724973056);
}

TEST(Cache, PickedRowsLeaveItBesideAStream) {
  // 160,000 picks of 1 KB among 20,000: the result streams 164 MB past the 20 MB table. The index, which is not recorded, has a row each.
  const LaunchCost gather = cost_of({"aten::index", R"("Input Dims": [[20000, 4, 64], []], "Input type": ["float", ""])",
                                     "void at::native::vectorized_gather_kernel<16, long>(x)", "[160000, 1, 1]", "[64, 1, 1]"});
  expect_near(gather, 64080896);
  const LaunchCost add = cost_of(
      {"aten::index_add",
       R"("Input Dims": [[20000, 4, 64], [], [160000], [160000, 4, 64], []], "Input type": ["float", "Scalar", "long int", "float", "Scalar"], "Concrete Inputs": ["", "0", "", "", "1"])",
       "void at::native::indexFuncLargeIndex<float, long, unsigned int, 2, 2, -2, true, x>(y)", "[1056, 1, 1]", "[128, 1, 1]"});
  EXPECT_NEAR(add.bytes_read.value_or(0), 209105920, 0.1 * 209105920);
}

}  // namespace
}  // namespace ridge
