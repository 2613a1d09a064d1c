// The metrics that check doubts, on products made by hand: over a peak, near it, far from the roof.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/check/check.h"
#include "analysis/kernels/kernels.h"
#include "unit/analysis/products.h"

namespace ridge {
namespace {

using test::join;
using test::kGemm;
using test::launch;
using test::mm;
using test::OnDevice;

std::vector<std::string> problems_of(const Check& check) {
  std::vector<std::string> found;
  for (const CheckRow& row : check.rows) found.push_back(row.problem);
  return found;
}

// 2 x 4096^3 FLOP in bfloat16 need 139 us of an H200 at its peak.
std::string large_product(int kernel_us) { return join({mm(0, 10, 4096), launch(1, 1, 2, kGemm, 100, kernel_us)}); }

TEST(CheckMetrics, ByHowFarFromTheRoof) {
  EXPECT_EQ(problems_of(compute_check(OnDevice(large_product(100), "h200").scope)),
            std::vector<std::string>{"over_peak_flops"});
  EXPECT_EQ(problems_of(compute_check(OnDevice(large_product(145), "h200").scope)), std::vector<std::string>{"near_peak"});
  EXPECT_EQ(problems_of(compute_check(OnDevice(large_product(300), "h200").scope)), std::vector<std::string>{});
  EXPECT_EQ(problems_of(compute_check(OnDevice(large_product(2000), "h200").scope)), std::vector<std::string>{"far_from_roof"});
  EXPECT_EQ(problems_of(compute_check(OnDevice(large_product(20000), nullptr).scope)), std::vector<std::string>{});
}

// One product by two kernels: which does how much of it is a guess.
std::string product_of_two(int kernel_us) {
  return join({mm(0, 10, 4096), launch(1, 1, 2, kGemm, 100, kernel_us), launch(2, 4, 2, kGemm, 100 + kernel_us, kernel_us)});
}

// A product of known shapes is as slow as it is: a cutlass kernel without tensor cores, a grid of one block. Its figures are
// doubted only where they are a guess.
TEST(CheckMetrics, UnderOnePercentIsProbablyWrongOnlyWhereItIsAGuess) {
  const OnDevice slow(large_product(20'000), "h200");
  ASSERT_NE(compute_kernels(slow.scope).rows.at(0).cost.estimate, Estimate::ambiguous);
  EXPECT_EQ(problems_of(compute_check(slow.scope)), std::vector<std::string>{"far_from_roof"});
  const OnDevice guess(product_of_two(20'000), "h200");
  EXPECT_EQ(problems_of(compute_check(guess.scope)), std::vector<std::string>{"under_one_percent"});
}

TEST(CheckMetrics, OverThePeakIsToldWithReasonsAndNotClipped) {
  const Check check = compute_check(OnDevice(large_product(100), "h200").scope);
  ASSERT_EQ(check.metrics.size(), 1U);
  EXPECT_NEAR(check.metrics[0].percent.value(), 100 * 2 * 4096.0 * 4096 * 4096 / 100e-6 / 989.4e12, 1e-3);
  EXPECT_NE(check.metrics[0].reasons.find("sparse"), std::string::npos) << check.metrics[0].reasons;
  EXPECT_NE(check.metrics[0].reasons.find("a device other than NVIDIA H200"), std::string::npos);
}

TEST(CheckMetrics, KernelsThatDoNotMatterAreLeftAlone) {
  // 8 us: too short to tell anything; and a kernel with a hundredth of a percent of the time.
  EXPECT_EQ(problems_of(compute_check(OnDevice(join({mm(0, 10, 128), launch(1, 1, 2, kGemm, 100, 8)}), "h200").scope)),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace ridge
