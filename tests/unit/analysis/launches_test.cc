// launches on traces made by hand: what binds a program, and what does not.
#include "analysis/launches/launches.h"

#include <gtest/gtest.h>

#include "support/host_device_trace.h"

namespace ridge {
namespace {

// Kernels of 5 us, each launched 20 us after the one before it, but for every tenth, before which the host does something else
// for `pause_ns`.
DeviceLaunches eager(std::int64_t pause_ns) {
  test::TraceText text;
  std::int64_t at = 1'000'000;
  for (int i = 1; i <= 100; ++i, at += 20'000) {
    if (i % 10 == 0) at += pause_ns;
    text.op("aten::add", at, at + 15'000).call("cudaLaunchKernel", at + 2'000, at + 6'000, i);
    text.kernel("add", at + 8'000, at + 13'000, i);
  }
  const auto trace = text.read();
  const Model model(*trace);
  const Launches launches = compute_launches(Scope(model));
  EXPECT_EQ(launches.devices.size(), 1U);
  return launches.devices.at(0);
}

TEST(Launches, ManySmallKernelsAreLaunchBound) {
  const DeviceLaunches d = eager(0);
  EXPECT_EQ(d.launch_bound, true);
  EXPECT_EQ(d.pauses, 0);
  EXPECT_EQ(d.cuda_graph_gain_ns, 99 * 15'000);
}

TEST(Launches, WhatTheHostDoesElseIsNothingThatGraphsWouldSave) {
  const DeviceLaunches d = eager(5'000'000);
  EXPECT_EQ(d.launch_bound, false);
  EXPECT_EQ(d.pauses, 10);
  // Ten pauses of 5'015 us, and 15 us before each of the other kernels. Of a pause the recorder's part is another cause: what
  // recording an op and a call costs, under a microsecond.
  EXPECT_EQ(d.pauses_ns + d.cuda_graph_gain_ns, 10 * 5'015'000 + 89 * 15'000);
  EXPECT_LE(d.pauses_ns, 10 * 5'015'000);
  EXPECT_GE(d.pauses_ns, 10 * 5'014'000);
  EXPECT_NE(launch_verdict(d).find("the host does other work"), std::string::npos) << launch_verdict(d);
}

// The recording's own start and end are no part of what a program lacks.
TEST(Launches, TheTimeBeforeAndBehindTheWorkDoesNotCount) {
  test::TraceText text;
  text.op("aten::empty", 0, 1'000).op("aten::empty", 40'000'000, 40'001'000);
  for (int i = 1; i <= 100; ++i) {
    const std::int64_t at = 20'000'000 + i * 20'000;
    text.op("aten::add", at, at + 15'000).call("cudaLaunchKernel", at + 2'000, at + 6'000, i);
    text.kernel("add", at + 8'000, at + 13'000, i);
  }
  const auto trace = text.read();
  const Model model(*trace);
  EXPECT_EQ(compute_launches(Scope(model)).devices.at(0).launch_bound, true);
}

DeviceLaunches launches_of(const test::TraceText& text) {
  const auto trace = text.read();
  const Model model(*trace);
  return compute_launches(Scope(model)).devices.at(0);
}

// Ten kernels of 50 us from before the recording, then ten of 5 us with launches.
TEST(Launches, WorkQueuedBeforeTheRecordingIsNotWorkOfItsLaunches) {
  test::TraceText text;
  for (int i = 1; i <= 10; ++i) text.kernel("old", i * 50'000, i * 50'000 + 50'000, 100 + i);
  for (int i = 1; i <= 10; ++i) {
    const std::int64_t at = 600'000 + i * 20'000;
    text.call("cudaLaunchKernel", at, at + 6'000, i).kernel("add", at + 8'000, at + 13'000, i);
  }
  const DeviceLaunches d = launches_of(text);
  EXPECT_EQ(d.unlinked, 10);
  EXPECT_EQ(d.device_ns_per_launch, 5'000);
  EXPECT_EQ(d.host_ns_per_launch, (9 * 20'000 + 6'000) / 10.0);
}

TEST(Launches, ASingleLaunchIsNoRate) {
  test::TraceText text;
  text.call("cudaLaunchKernel", 1'000, 48'000, 1).kernel("k", 50'000, 52'000, 1);
  const DeviceLaunches d = launches_of(text);
  EXPECT_EQ(d.launch_bound, std::nullopt);
  EXPECT_EQ(d.host_ns_per_launch, std::nullopt);
  EXPECT_NE(launch_verdict(d).find("unknown: "), std::string::npos) << launch_verdict(d);
}

// A first use: one launch of twenty takes 8 of the 8.4 ms.
TEST(Launches, ACallThatTakesLongItselfIsNothingElseThatTheHostDoes) {
  test::TraceText text;
  for (int i = 1; i <= 20; ++i) {
    const std::int64_t at = i * 20'000 + (i > 10 ? 8'000'000 : 0), took = i == 10 ? 8'000'000 : 4'000;
    text.op("aten::add", at, at + took + 8'000).call("hipLaunchKernel", at + 2'000, at + 2'000 + took, i);
    text.kernel("add", at + took + 4'000, at + took + 9'000, i);
  }
  const DeviceLaunches d = launches_of(text);
  EXPECT_EQ(d.launch_bound, false);
  EXPECT_EQ(d.pauses, 1);
  EXPECT_EQ(d.pauses_in_calls_ns, d.pauses_ns);
  EXPECT_EQ(d.longest_call, "hipLaunchKernel");
  EXPECT_EQ(d.longest_call_ns, 8'000'000);
  EXPECT_EQ(launch_verdict(d).find("other work"), std::string::npos) << launch_verdict(d);
  EXPECT_NE(launch_verdict(d).find("hipLaunchKernel, 8.000 ms"), std::string::npos) << launch_verdict(d);
}

TEST(Launches, GraphsAreNamedWhereThereAreAny) {
  const auto verdict = [](std::string_view call) {
    test::TraceText text;
    for (int i = 1; i <= 100; ++i) {
      const std::int64_t at = i * 20'000;
      text.call(call, at + 2'000, at + 6'000, i).kernel("add", at + 8'000, at + 13'000, i);
    }
    return launch_verdict(launches_of(text));
  };
  for (const std::string_view call : {"cudaLaunchKernel", "cuLaunchKernelEx", "hipModuleLaunchKernel"})
    EXPECT_NE(verdict(call).find("CUDA graphs"), std::string::npos) << call << ": " << verdict(call);
  EXPECT_EQ(verdict("urEnqueueKernelLaunch").find("CUDA"), std::string::npos) << verdict("urEnqueueKernelLaunch");
}

}  // namespace
}  // namespace ridge
