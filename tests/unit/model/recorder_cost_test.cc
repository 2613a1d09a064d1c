// What recording cost: hand-made traces with prices added up by hand.
#include "model/recorder_cost.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "model/idle.h"
#include "support/host_device_trace.h"

namespace ridge {
namespace {

using test::TraceText;

constexpr std::int64_t kUs = 1'000;

RecorderCosts costs_of(const Trace& trace) { return build_recorder_costs(trace, Model(trace).tree()); }

// Ops of 50 us with a launch each, one every 100 us; launches take `launch_ns`.
TraceText ops_with_launches(int count, std::int64_t launch_ns) {
  TraceText text;
  for (int i = 0; i < count; ++i) {
    const std::int64_t at = i * 100 * kUs;
    text.op("aten::add", at, at + 50 * kUs).call("cudaLaunchKernel", at + 20 * kUs, at + 20 * kUs + launch_ns, i + 1);
    text.kernel("k", at + 60 * kUs, at + 70 * kUs, i + 1);
  }
  return text;
}

TEST(RecorderCost, IsThePriceOfWhatStartsBetweenTwoCalls) {
  const auto trace = ops_with_launches(20, 4'400).read();
  const RecorderCosts costs = costs_of(*trace);
  EXPECT_TRUE(costs.calibrated);
  EXPECT_DOUBLE_EQ(costs.slowness, 1);
  // From the end of one call to the end of the next: an op and a launch.
  EXPECT_EQ(costs.of_thread.at(0).between(24'400, 124'400), 1'300 + 3'400);
  EXPECT_EQ(costs.of_thread.at(0).between(24'400, 224'400), 2 * (1'300 + 3'400));
  EXPECT_EQ(costs.of_thread.at(0).between(24'400, 74'400), (1'300 + 3'400) / 2) << "spread evenly";
  EXPECT_EQ(costs.of_thread.at(0).between(50'000, 50'000), 0);
}

TEST(RecorderCost, OfASlowHostIsMore) {
  const auto slow = ops_with_launches(20, 2 * 4'400).read();
  const RecorderCosts costs = costs_of(*slow);
  EXPECT_DOUBLE_EQ(costs.slowness, 2);
  EXPECT_GT(costs.of_thread.at(0).between(0, 1'000 * kUs),
            2 * costs_of(*ops_with_launches(20, 4'400).read()).of_thread.at(0).between(0, 1'000 * kUs));
}

TEST(RecorderCost, FewLaunchesTellNoSpeed) {
  const RecorderCosts costs = costs_of(*ops_with_launches(5, 20'000).read());
  EXPECT_FALSE(costs.calibrated);
  EXPECT_DOUBLE_EQ(costs.slowness, 1);
}

TEST(RecorderCost, NeverTakesAllOfTheTime) {
  TraceText text;
  for (int i = 0; i < 100; ++i) text.op("aten::view", i * 500, i * 500 + 400);  // shorter than their price
  const auto trace = text.read();
  EXPECT_EQ(costs_of(*trace).of_thread.at(0).between(0, 49'900), 49'900 - 9'980);
}

TEST(RecorderCost, IsNothingWhereTheHostComputesOrWaits) {
  TraceText text = ops_with_launches(20, 2 * 4'400);
  text.call("cudaDeviceSynchronize", 10'000 * kUs, 60'000 * kUs, 900);
  const auto trace = text.read();
  const RecorderCost cost = costs_of(*trace).of_thread.at(0);
  EXPECT_EQ(cost.between(10'001 * kUs, 60'000 * kUs), 0);
  // 8 ms without an event, of which the first 60 us count as watched.
  EXPECT_LT(cost.between(2'000 * kUs, 10'000 * kUs), 30 * kUs);
}

TEST(RecorderCost, OfShapesAndStepsAndTritonKernels) {
  TraceText text;
  text.annotation("ProfilerStep#1", 0, 1'000 * kUs);
  text.op("triton_poi_fused_add_0", 10 * kUs, 60 * kUs).op("CompiledFunction", 70 * kUs, 120 * kUs);
  for (int i = 0; i < 20; ++i) text.op("aten::add", (200 + i * 40) * kUs, (230 + i * 40) * kUs);
  const auto trace = text.read();
  EXPECT_EQ(costs_of(*trace).of_thread.at(0).between(0, 1'000 * kUs), 100'000 + 11'500 + 3'200 + 20 * 1'300);
}

// The device waits 30 us before each kernel; of that the recorder's cost is its own cause.
// Three allocations between two calls, and one that is behind the last: instants, which no slice stands for.
TEST(RecorderCost, OfAllocations) {
  TraceText text = ops_with_launches(20, 4'400);
  const std::int64_t without = costs_of(*text.read()).of_thread.at(0).between(24'400, 124'400);
  text.memory(30 * kUs, 512, 4096, 512).memory(105 * kUs, 512, 8192, 1024).memory(110 * kUs, -512, 4096, 512);
  text.memory(130 * kUs, -512, 8192, 0);
  const RecorderCosts costs = costs_of(*text.read());
  EXPECT_EQ(costs.of_thread.at(0).between(24'400, 124'400), without + 3 * 800);
  EXPECT_EQ(costs.of_thread.at(0).between(124'400, 224'400), without + 800);
}

TEST(RecorderCost, IsACauseOfIdleTime) {
  const auto trace = ops_with_launches(20, 4'400).read();
  const Model model(*trace);
  std::map<std::string, std::int64_t> by_cause;
  for (const DeviceIdle& idle : split_idle(model, *trace->window)) {
    for (const IdlePiece& piece : idle.pieces) by_cause[std::string(name_of(piece.cause))] += piece.length();
  }
  // Before the second kernel: what the first call and its op cost, and the second's; then one op and call each.
  EXPECT_EQ(by_cause["recorder"], 3'400 + 1'300 + 19 * (1'300 + 3'400));
  EXPECT_EQ(by_cause["recorder"] + by_cause["launch"] + by_cause["kernel_gap"], 19 * 90 * kUs);
}

// The function that Inductor writes for a graph, with a launch every 100 us: each call in it costs what the function takes by
// itself beside 1 us. In a function of the program such time is its own.
TEST(RecorderCost, OfCallsInGeneratedCodeIsWhatTheRecorderWalksItsVariablesFor) {
  const auto cost_of = [](std::string_view function) {
    TraceText text;
    text.frame(function, 0, 4'000 * kUs);
    for (int i = 0; i < 40; ++i) {
      const std::int64_t at = i * 100 * kUs;
      text.frame("torch/_inductor/runtime/triton_heuristics.py(1407): run", at + 40 * kUs, at + 90 * kUs);
      text.call("cudaLaunchKernel", at + 50 * kUs, at + 54'400, i + 1).kernel("k", at + 60 * kUs, at + 70 * kUs, i + 1);
    }
    const auto trace = text.read();
    return costs_of(*trace).of_thread.at(0).between(54'400, 54'400 + 100 * kUs);
  };
  const std::int64_t usual = cost_of("train.py(3319): call");
  EXPECT_EQ(usual, 570 + 3'400);
  EXPECT_EQ(cost_of("/tmp/cache/yj/cyjug4lvr22tdber523xkhpkgazs76m45ztngvcqxshtpc6on6n5.py(3319): call"), usual + 49 * kUs);
  EXPECT_EQ(cost_of("/tmp/cache/yj/cyjug4lvr22tdber523xkhpkgazs76m45ztngvcqxshtpc6on6n5.py(3319): run"), usual);
}

// Ten calls of a function of 20 us, one of which stands still for 8 ms: garbage is collected, of which there is as much for the
// recorder. Not where every call takes so long, and not in a function in C, which may wait.
TEST(RecorderCost, OfStacksHoldsCollectionsOfGarbage) {
  const auto cost_of = [](std::string_view function, int slow) {
    TraceText text = ops_with_launches(20, 4'400);
    std::int64_t at = 3'000 * kUs;
    for (int i = 0; i < 10; ++i) {
      const std::int64_t ns = i % 10 < slow ? 8'000 * kUs : 20 * kUs;
      text.frame(function, at, at + ns);
      at += ns + 10 * kUs;
    }
    const auto trace = text.read();
    return costs_of(*trace).of_thread.at(0).between(1'924'400, at);
  };
  constexpr std::string_view kPython = "torch/nn/modules/module.py(1955): __getattr__";
  EXPECT_GT(cost_of(kPython, 1), 7'900 * kUs);
  EXPECT_LT(cost_of(kPython, 1), 8'000 * kUs);
  EXPECT_LT(cost_of(kPython, 5), 500 * kUs) << "it takes so long as a rule";
  EXPECT_LT(cost_of("<built-in method acquire of lock>", 1), 500 * kUs);
}

}  // namespace
}  // namespace ridge
