// What becomes one kernel, and what that moves, of flows made by hand. A tensor of 1000 floats is 4000 bytes.
#include "predict/fusion.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

namespace ridge {
namespace {

constexpr std::uint32_t kNone = Fused::kNoGroup;
constexpr double kBytes = 4'000;

FlowTensor floats(double elements, std::uint64_t shape) { return {elements, 4, shape, false}; }
const FlowTensor kRows = floats(1'000, 1), kPart = floats(500, 2), kNumbers = floats(10, 3);

class FlowOf {
 public:
  FlowOf& op(FlowSort sort, std::vector<FlowTensor> reads, std::vector<FlowTensor> makes, bool whole = false) {
    FlowCall call{.sort = sort, .whole = whole, .twice = false, .reads = std::move(reads), .makes = std::move(makes)};
    flow.ops.push_back({.call = static_cast<std::uint32_t>(flow.calls.size()), .thread = thread, .iteration = iteration});
    flow.calls.push_back(std::move(call));
    return *this;
  }
  FlowOf& computes(std::vector<FlowTensor> reads, const FlowTensor& makes = kRows) {
    return op(FlowSort::generated, std::move(reads), {makes});
  }
  FlowOf& product(std::vector<FlowTensor> reads = {kRows}, const FlowTensor& makes = kRows) {
    return op(FlowSort::stays, std::move(reads), {makes});
  }
  FlowOf& view(const FlowTensor& of, std::vector<FlowTensor> makes) { return op(FlowSort::view, {of}, std::move(makes)); }
  FlowOf& unknown() {
    op(FlowSort::stays, {}, {});
    flow.calls.back().known = false;
    return *this;
  }

  Flow flow;
  std::uint32_t thread = 0, iteration = 0;
};

double moved(const Fused& fused, std::size_t group) {
  return (fused.groups[group].bytes_read + fused.groups[group].bytes_written) / kBytes;
}

// x, twice as much, and the sum of both, between two products: one kernel reads what the first made and writes what the second
// reads.
TEST(Fusion, OpsBetweenProductsAreOneKernel) {
  const Fused fused = fuse(FlowOf().product().computes({kRows}).computes({kRows}).computes({kRows}).product().flow);
  EXPECT_EQ(fused.group_of, (std::vector<std::uint32_t>{kNone, 0, 0, 0, kNone}));
  EXPECT_EQ(moved(fused, 0), 2);
}

// What is made before a product and read behind it is written, and read again.
TEST(Fusion, WhatIsReadBehindAProductIsWritten) {
  // x = 2 a; y = product(x); z = x + y; a sum of x and y has the two latest of that size as operands.
  const Fused fused = fuse(FlowOf().computes({kRows}).product().computes({kRows, kRows}).flow);
  EXPECT_EQ(fused.group_of, (std::vector<std::uint32_t>{0, kNone, 1}));
  EXPECT_EQ(moved(fused, 0), 2);  // reads a, writes x
  EXPECT_EQ(moved(fused, 1), 3);  // reads x and y, writes z
}

// A gate computed beside what it opens: neither product needs the other, and the gate is no reason for a second kernel.
TEST(Fusion, WhatStandsBetweenProductsInTimeNeedNotInDepth) {
  const FlowTensor wide = floats(4'000, 4);
  const Fused fused =
      fuse(FlowOf().product({kRows}, wide).computes({wide}, wide).product({kRows}, wide).computes({wide, wide}, wide).flow);
  EXPECT_EQ(fused.group_of, (std::vector<std::uint32_t>{kNone, 0, kNone, 0}));
  EXPECT_EQ(moved(fused, 0), 4 * (2 + 1));  // both products, and the result
}

// Twenty slices of one tensor that comes from before, each added to a sum: all of it is read, whatever the sum's size is.
TEST(Fusion, PartsOfATensorAreReadOnceEach) {
  FlowOf flow;
  const FlowTensor noise = floats(20'000, 5);
  flow.computes({kRows});
  for (int i = 0; i < 20; ++i) flow.view(noise, {kRows}).computes({kRows, kRows});
  const Fused fused = fuse(flow.flow);
  ASSERT_EQ(fused.groups.size(), 1U);
  EXPECT_EQ(moved(fused, 0), 1 + 20 + 1);
}

// Halves of what a product made: both are read where both are, and one where one is.
TEST(Fusion, ViewsOfAResultAreItsParts) {
  const Fused both = fuse(FlowOf().product().view(kRows, {kPart, kPart}).computes({kPart, kPart}, kPart).flow);
  EXPECT_EQ(moved(both, 0), 0.5 * 3);
  const Fused one = fuse(FlowOf().product().view(kRows, {kPart, kPart}).computes({kPart}, kPart).flow);
  EXPECT_EQ(moved(one, 0), 0.5 * 2);
}

// A view of what is made within is within.
TEST(Fusion, ViewsOfWhatIsMadeWithinMoveNothing) {
  const FlowTensor turned = floats(1'000, 6);
  const Fused fused = fuse(FlowOf().product().computes({kRows}).view(kRows, {turned}).computes({turned}, turned).flow);
  ASSERT_EQ(fused.groups.size(), 1U);
  EXPECT_EQ(moved(fused, 0), 2);
}

// A result that is only viewed is a result: it is written. One whose view is read within is not.
TEST(Fusion, AResultThatIsOnlyViewedIsWritten) {
  const FlowTensor turned = floats(1'000, 6);
  const Fused viewed = fuse(FlowOf().product().computes({kRows}).view(kRows, {turned}).flow);
  EXPECT_EQ(moved(viewed, 0), 2);
}

// A norm over columns needs all of its input before it can be applied: a second kernel reads it once more. Along rows it is
// one.
TEST(Fusion, WhatIsKnownAtTheEndIsAKernelOfItsOwn) {
  const auto program = [](bool whole) {
    return fuse(FlowOf().product().op(FlowSort::generated, {kRows}, {kNumbers}, whole).computes({kRows, kNumbers}).flow);
  };
  const Fused columns = program(true), rows = program(false);
  EXPECT_EQ(columns.group_of, (std::vector<std::uint32_t>{kNone, 0, 1}));
  EXPECT_EQ(rows.group_of, (std::vector<std::uint32_t>{kNone, 0, 0}));
  EXPECT_DOUBLE_EQ(moved(columns, 0) + moved(columns, 1), 3 + 2 * 0.01);
  EXPECT_EQ(moved(rows, 0), 2);
}

// Casts of two weights and what is made of one of them: two kernels for the host to launch, and the second cast of a shape is
// of another weight. A scale that both read joins nothing.
TEST(Fusion, PartsThatShareNoTensorAreKernelsOfTheirOwn) {
  const FlowTensor narrow{1'000, 2, 1, false}, other{1'000, 2, 7, false};
  const Fused fused = fuse(FlowOf().computes({kRows}, narrow).computes({kRows}, narrow).computes({narrow}, other).flow);
  ASSERT_EQ(fused.groups.size(), 1U);
  EXPECT_EQ(fused.part_of, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(fused.groups[0].bytes_read, 2 * kBytes);
  const FlowTensor half = floats(500, 8);
  const Fused scaled = fuse(FlowOf().computes({kRows, kNumbers}).computes({half, kNumbers}, half).product({kRows}).flow);
  ASSERT_EQ(scaled.groups.size(), 1U);
  EXPECT_EQ(scaled.part_of, (std::vector<std::uint32_t>{0, 1, kNone}));
}

TEST(Fusion, NothingFusesAcrossThreadsAndIterations) {
  FlowOf threads;
  threads.computes({kRows}).thread = 1;
  threads.computes({kRows});
  EXPECT_EQ(fuse(threads.flow).groups.size(), 2U);
  FlowOf iterations;
  iterations.computes({kRows}).iteration = 1;
  iterations.computes({kRows});
  const Fused fused = fuse(iterations.flow);
  ASSERT_EQ(fused.groups.size(), 2U);
  EXPECT_EQ(moved(fused, 1), 2) << "of the iteration before it knows nothing";
}

// Without shapes: sizes by grids, rounded up to blocks, and products that tell nothing.
TEST(Fusion, BySizesAloneProductsPartTheFlow) {
  const auto by_grid = [](double elements) { return floats(elements, 0); };
  FlowOf flow;
  flow.unknown().computes({by_grid(1'048'576)}, by_grid(1'048'576));
  flow.computes({by_grid(1'049'600), by_grid(1'049'600)}, by_grid(1'048'576))
      .unknown()
      .computes({by_grid(1'048'576)}, by_grid(1'048'576));
  const Fused fused = fuse(flow.flow);
  EXPECT_EQ(fused.group_of, (std::vector<std::uint32_t>{kNone, 0, 0, kNone, 1}));
  EXPECT_NEAR(moved(fused, 0), (1'048'576 * 2 + 1'049'600) / 1e3, 1);
  EXPECT_NEAR(moved(fused, 1), 2 * 1'048'576 / 1e3, 1);
}

// What only its time tells reads what was just made, whatever size that seems to have.
TEST(Fusion, AGuessIsOfWhatWasJustMade) {
  const FlowTensor large{1e6, 4, 0, false}, guess{3e6, 4, 0, true};
  const Fused fused = fuse(FlowOf().computes({large}, large).computes({guess}, guess).computes({large}, large).flow);
  ASSERT_EQ(fused.groups.size(), 1U);
  EXPECT_EQ(moved(fused, 0), 2'000);
}

// Many tensors that one op reads, and many short iterations behind a long one.
TEST(Fusion, ListsAndIterationsTakeLinearTime) {
  constexpr int kMany = 200'000;
  FlowOf list;
  list.computes(std::vector<FlowTensor>(kMany, kRows));
  FlowOf iterations;
  iterations.computes({kRows});
  for (int i = 0; i < kMany; ++i) iterations.flow.ops.push_back({.call = 0});
  for (std::uint32_t i = 1; i <= kMany; ++i) iterations.flow.ops.push_back({.call = 0, .iteration = i});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(fuse(list.flow).groups.size(), 1U);
  EXPECT_EQ(fuse(iterations.flow).groups.size(), 1U + kMany);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40)) << "quadratic: minutes";
}

TEST(Fusion, OfNothingIsNothing) {
  EXPECT_TRUE(fuse({}).groups.empty());
  FlowOf odd;
  odd.op(FlowSort::view, {}, {}).op(FlowSort::generated, {}, {}).op(FlowSort::stays, {}, {});
  EXPECT_EQ(fuse(odd.flow).group_of, (std::vector<std::uint32_t>{kNone, 0, kNone}));
}

// Half a million ops over tensors of one size, none of them read: each is looked up in a bounded number of steps.
TEST(Fusion, TakesLinearTime) {
  FlowOf flow;
  flow.computes({kRows}).op(FlowSort::generated, {}, {kRows});
  for (int i = 0; i < 500'000; ++i) flow.flow.ops.push_back({.call = static_cast<std::uint32_t>(i % 2)});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(fuse(flow.flow).groups.size(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "quadratic: minutes";
}

}  // namespace
}  // namespace ridge
