// Matrix products off the grid of vector loads or of tiles: which count, what padding brings them and the rows beside them, and
// what is advised. On an H200: 989.4 TFLOP/s in bfloat16.
#include <gtest/gtest.h>

#include "support/says.h"
#include "unit/analysis/findings/calls.h"

namespace ridge {
namespace {

using test::args_of;
using test::Call;
using test::claimed_work;
using test::ClaimedWork;
using test::Found;
using test::found_in_calls;
using test::Tensor;

constexpr std::string_view kAlignmentId = "gemm_alignment";
constexpr std::string_view kTile128x64 = "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT";
constexpr std::string_view kTf32Product = "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_stage4_warpsize2x2x1";

struct ProductSizes {
  int m, n, k;
};
// [m, k] x [k, n], both by rows.
Call product_of(ProductSizes s, int us, std::string_view kernel = kTile128x64, const std::string& type = "c10::BFloat16") {
  return {.op = "aten::mm",
          .kernel = kernel,
          .us = us,
          .args = args_of({{fmt::format("[{}, {}]", s.m, s.k), fmt::format("[{}, 1]", s.k), type},
                           {fmt::format("[{}, {}]", s.k, s.n), fmt::format("[{}, 1]", s.n), type}})};
}
bool off_grid(const Call& call) { return found_in_calls({call}).has(kAlignmentId); }
std::string advice(const std::vector<Call>& calls) {
  const Found found = found_in_calls(calls);
  return found.has(kAlignmentId) ? found.find(kAlignmentId)->finding.action : found.ids();
}

// 137 GFLOP take 139 us at the peak.
TEST(GemmAlignment, OfAProductNearThePeakIsNoFault) {
  EXPECT_TRUE(off_grid(product_of({4096, 4095, 4096}, 900)));
  EXPECT_FALSE(off_grid(product_of({4096, 4095, 4096}, 190))) << "at 73 % of it";
}

// A product that starts and ends within some microseconds is bound by that.
TEST(GemmAlignment, OfAShortProductIsNoFault) {
  EXPECT_TRUE(off_grid(product_of({512, 511, 512}, 60)));
  EXPECT_FALSE(off_grid(product_of({512, 511, 512}, 9)));
}

TEST(GemmAlignment, IsATroubleOfTensorCores) {
  EXPECT_FALSE(off_grid(product_of({4096, 4095, 4096}, 4'000, "ampere_sgemm_128x64_nn", "float"))) << "element by element";
  EXPECT_TRUE(off_grid(product_of({4096, 4095, 4096}, 600, kTf32Product, "float"))) << "in 278 us by TF32, in 2 ms without";
  EXPECT_FALSE(off_grid(product_of({4096, 4092, 4096}, 4'000, kTf32Product, "float"))) << "four elements are one load";
  EXPECT_FALSE(off_grid(product_of({4096, 4096, 4096}, 4'000, kTf32Product, "float")));
}

// 264 is two tiles of 128 and 8 more. A side of 192 is three tiles of 64, and libraries turn their tiles as it suits. What fits
// into one tile has nothing to fill it with.
TEST(GemmAlignment, OfTilesIsWhatTheyWaste) {
  const Found wasteful = found_in_calls({product_of({264, 264, 4096}, 100)});
  ASSERT_TRUE(wasteful.has(kAlignmentId)) << wasteful.ids();
  EXPECT_TRUE(test::says(wasteful.find(kAlignmentId)->finding.finding, {"tile"}));
  const ClaimedWork claimed = claimed_work(wasteful, kAlignmentId);
  // The better way round: three of 128 and five of 64.
  EXPECT_NEAR(claimed.expected_us, 100 * (1 - 264.0 * 264 / (384 * 320)), 1);
  EXPECT_GT(claimed.bound_us, claimed.expected_us);
  EXPECT_FALSE(off_grid(product_of({1'000, 1'000, 4096}, 100))) << "of 1024 x 1024";
  EXPECT_FALSE(off_grid(product_of({192, 4096, 4096}, 100)));
  EXPECT_FALSE(off_grid(product_of({64, 64, 4096}, 100))) << "half a tile";
}

// Without shapes; of an op that tells its tensors and is no plain product, no size is to blame.
TEST(GemmAlignment, ByNameIsOfHalfPrecisionOneOrTwoElementsAtATime) {
  const auto named = [](std::string_view kernel, std::string_view args) {
    return off_grid({.op = "vendor::experts", .kernel = kernel, .us = 400, .args = std::string(args)});
  };
  constexpr std::string_view kBy1 = "void cutlass::Kernel2<cutlass_75_tensorop_f16_s1688gemm_f16_256x128_tn_align1>()";
  EXPECT_TRUE(named(kBy1, ""));
  EXPECT_TRUE(named("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_64x3_tn_align2>()", ""));
  EXPECT_FALSE(named(kBy1, args_of({{"[64, 4095]", "[]", "c10::Half"}})));
  EXPECT_FALSE(named("void cutlass::Kernel2<cutlass_75_tensorop_f16_s1688gemm_f16_256x128_tn_align8>()", ""));
  EXPECT_FALSE(named("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x128_16x3_tn_align1>()", "")) << "float32";
}

// No padding makes it faster than its arithmetic.
TEST(GemmAlignment, IsBoundedByThePeak) {
  const ClaimedWork claimed = claimed_work(found_in_calls({product_of({4096, 4095, 4096}, 900)}), kAlignmentId);
  EXPECT_NEAR(claimed.bound_us, 900 - 138.9, 1);
  EXPECT_LT(claimed.expected_us, claimed.bound_us);
}

// What a call of other work changes beside a product that is off the grid.
ClaimedWork beside_product(const Call& call) {
  const Call product = product_of({4096, 4095, 4096}, 900);
  const ClaimedWork alone = claimed_work(found_in_calls({product, product_of({8, 8, 8}, call.us)}), kAlignmentId);
  const ClaimedWork both = claimed_work(found_in_calls({product, call}), kAlignmentId);
  return {both.bound_us - alone.bound_us, both.expected_us - alone.expected_us};
}

Call softmax_of(const std::string& columns) {
  return {.op = "aten::_softmax",
          .kernel = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, c10::BFloat16, float, c10::BFloat16>()",
          .us = 200,
          .args = args_of(
              {{"[4096, " + columns + "]", "[" + columns + ", 1]", "c10::BFloat16"}, {.value = "-1"}, {.value = "False"}})};
}

// A softmax goes over rows of the same length, and is faster over padded ones. What goes element by element may be.
TEST(GemmAlignment, IsOfTheRowsOfASoftmaxToo) {
  const ClaimedWork same = beside_product(softmax_of("4095")), other = beside_product(softmax_of("4096"));
  EXPECT_GT(same.expected_us, 10);
  EXPECT_DOUBLE_EQ(other.expected_us, 0);
  EXPECT_DOUBLE_EQ(other.bound_us, 0);
  const Tensor rows{"[4096, 4095]", "[4095, 1]", "c10::BFloat16"};
  const ClaimedWork scaled =
      beside_product({.op = "aten::mul",
                      .kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<c10::BFloat16>>()",
                      .us = 200,
                      .args = args_of({rows, rows})});
  EXPECT_DOUBLE_EQ(scaled.expected_us, 0);
  EXPECT_GT(scaled.bound_us, 10);
}

TEST(GemmAlignment, MayBringShortProductsSomething) {
  const ClaimedWork small = beside_product(product_of({512, 511, 512}, 9));
  EXPECT_DOUBLE_EQ(small.expected_us, 0);
  EXPECT_GT(small.bound_us, 1);
}

// Sums of partial products, and the copy of a bias into the result, are no products: their time is not what padding saves.
TEST(GemmAlignment, IsOfTheProductAlone) {
  Call helper = product_of({4096, 4095, 4096}, 300, "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>()");
  EXPECT_DOUBLE_EQ(beside_product(helper).expected_us, 0);
  helper.kernel = "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>()";
  EXPECT_DOUBLE_EQ(beside_product(helper).expected_us, 0);
}

// The gradient of a layer's input has that layer's input features as columns.
TEST(GemmAlignment, AdviceNamesWhatTheOddSizeIs) {
  Call product = product_of({4096, 4095, 4096}, 900);
  EXPECT_TRUE(test::says(advice({product}), {"output features 4095 to 4096"}));
  product.around = {"autograd::engine::evaluate_function: MmBackward0", "MmBackward0"};
  EXPECT_TRUE(test::says(advice({product}), {"input features 4095 to 4096"}));
  EXPECT_TRUE(
      test::says(advice({product_of({4096, 4093, 4096}, 4'000, kTf32Product, "float")}), {"output features 4093 to 4096"}));
  const std::string twice = advice({product_of({4096, 4095, 4096}, 900), product_of({2048, 4095, 4096}, 900)});
  EXPECT_EQ(twice.find("4095"), twice.rfind("4095")) << twice;
  const Tensor of_wider{"[4096, 4096]", "[4099, 1]", "c10::BFloat16"}, weight{"[4096, 4096]", "[4096, 1]", "c10::BFloat16"};
  const Call view{.op = "aten::mm", .kernel = kTile128x64, .us = 900, .args = args_of({of_wider, weight})};
  EXPECT_TRUE(test::says(advice({view}), {"a view of 4096x4096x4096"}));
}

// Of an unknown device no peak bounds what padding brings: that is said to be unknown, not to be nothing.
TEST(GemmAlignment, OnAnUnknownDeviceHasNoBound) {
  const Call product = product_of({4096, 4095, 4096}, 900);
  const Found found =
      test::found_in_events(test::join({test::event({.name = product.op, .ts = 90, .dur = 8, .args = product.args}),
                                        test::launch(1, 92, 4, product.kernel, 100, product.us)}));
  ASSERT_TRUE(found.has(kAlignmentId)) << found.ids();
  EXPECT_FALSE(found.find(kAlignmentId)->at_most_ns);
}

}  // namespace
}  // namespace ridge
