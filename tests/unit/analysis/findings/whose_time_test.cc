// Whose time a finding claims, and what it advises then, on traces made by hand: work that no iteration launched, waits for
// collectives, code that is compiled in small part.
#include <gtest/gtest.h>

#include "support/host_device_trace.h"
#include "support/says.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::TraceText;

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// An all-reduce of 300 us, launched in the recording or before it.
Found one_all_reduce(bool launched) {
  TraceText text;
  text.kernel(kAllReduce, 100 * kUs, 400 * kUs, 1, 20);
  if (launched) text.call("cudaLaunchKernel", 90 * kUs, 95 * kUs, 1);
  text.call("cudaLaunchKernel", 392 * kUs, 396 * kUs, 2).kernel("k", 400 * kUs, 600 * kUs, 2);
  text.call("cudaLaunchKernel", 392 * kUs, 396 * kUs, 3).kernel(kAllReduce, 600 * kUs, 601 * kUs, 3, 20);
  return found_in(text);
}

TEST(WhoseTime, WorkQueuedBeforeTheRecordingIsClaimedByNobody) {
  const Found own = one_all_reduce(true);
  ASSERT_TRUE(own.has("exposed_communication")) << own.ids();
  EXPECT_EQ(own.find("exposed_communication")->finding.at_most_ns, 301 * kUs);
  const Found inherited = one_all_reduce(false);
  EXPECT_FALSE(inherited.has("exposed_communication")) << inherited.ids();
}

// Two steps; in each the kernel was queued early and starts 20 us behind the all-reduce on another stream.
TEST(WhoseTime, WaitingForACollectiveIsToldPerIteration) {
  TraceText text;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = std::int64_t{1'000} * i * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 900 * kUs);
    text.call("cudaLaunchKernel", at + 10 * kUs, at + 12 * kUs, 2 * i + 1)
        .call("cudaLaunchKernel", at + 13 * kUs, at + 15 * kUs, 2 * i + 2);
    text.kernel(kAllReduce, at + 20 * kUs, at + 320 * kUs, 2 * i + 1, 20)
        .kernel("k", at + 340 * kUs, at + 800 * kUs, 2 * i + 2);
  }
  const Found found = found_in(text);
  ASSERT_TRUE(found.has("exposed_communication")) << found.ids();
  EXPECT_EQ(found.find("exposed_communication")->finding.at_most_ns, std::int64_t{640} * kUs);
  const std::string& evidence = found.find("exposed_communication")->finding.evidence;
  EXPECT_TRUE(test::says(evidence, {" 20.000 us"}));
}

// Buckets of gradients are no use to a program that has none.
TEST(WhoseTime, WhatToDoAboutCommunicationDependsOnTheProgram) {
  const auto action = [](std::string_view op) {
    TraceText text;
    if (!op.empty()) text.op(op, 10 * kUs, 20 * kUs);
    text.call("cudaLaunchKernel", 12 * kUs, 14 * kUs, 1).kernel(kAllReduce, 20 * kUs, 320 * kUs, 1);
    const Found found = found_in(text);
    return found.has("exposed_communication") ? found.find("exposed_communication")->finding.action : "none of " + found.ids();
  };
  EXPECT_NE(action("autograd::engine::evaluate_function: AddmmBackward0").find("bucket_cap_mb"), std::string::npos);
  EXPECT_TRUE(test::says(action("aten::mm"), {"tensor parallelism"}));
  EXPECT_FALSE(test::says(action(""), {"bucket_cap_mb"}));
  EXPECT_FALSE(test::says(action(""), {"tensor parallelism"}));
}

// 200 kernels, each launched late; a compiled graph holds the first `compiled` of them.
std::string advice(int compiled) {
  TraceText text;
  const std::int64_t end = (10 + compiled * 30 - 8) * kUs;
  text.op("Torch-Compiled Region: 0/0", 1 * kUs, end).op("## Call CompiledFxGraph abc ##", 2 * kUs, end - kUs);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t at = (10 + i * 30) * kUs;
    text.call("cudaLaunchKernel", at - 6 * kUs, at - kUs, i + 1)
        .kernel(i < compiled ? "triton_poi_fused_add_0" : "k", at, at + 10 * kUs, i + 1);
  }
  const Found found = found_in(text);
  return found.has("launch_bound") ? found.find("launch_bound")->finding.action : "none of " + found.ids();
}

TEST(WhoseTime, LateLaunchesAreOfCompiledGraphsOnlyWhereMostIsCompiled) {
  EXPECT_TRUE(test::says(advice(2), {"capture the step as it is (torch.cuda.graph)"}));
  EXPECT_TRUE(test::says(advice(200), {"reduce-overhead"}));
  EXPECT_FALSE(test::says(advice(200), {"torch.cuda.graph"}));
}

}  // namespace
}  // namespace ridge
