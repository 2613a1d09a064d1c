// launches on traces made by hand: what binds a program, and what does not.
#include "analysis/launches.h"

#include <gtest/gtest.h>

#include "support/host_device_trace.h"

namespace ridge {
namespace {

// Kernels of 5 us, each launched 20 us after the one before it, but for every tenth, before which the host does something else for `pause_ns`.
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
  EXPECT_EQ(d.pauses_ns, 10 * 5'015'000);
  EXPECT_EQ(d.cuda_graph_gain_ns, 89 * 15'000);
  EXPECT_NE(launch_verdict(d).find("the host does something else"), std::string::npos) << launch_verdict(d);
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

}  // namespace
}  // namespace ridge
