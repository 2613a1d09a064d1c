// From a launch to its work: launches that are slow themselves, work that is on its way or waits for another stream, and what a
// step is told to take when the host or the device changes. Programs made by hand, with answers worked out beside them.
#include <gtest/gtest.h>

#include "predict/changes.h"
#include "predict/what_if.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

constexpr std::int64_t kUs = 1'000;

// The step after a change, from the recorded one.
Outcome after(const TraceText& text, std::initializer_list<std::string_view> changes) {
  const LoadedTrace loaded(text.read());
  const Scope scope(*loaded.model);
  const WhatIf what_if(scope, WhatIf::From::recorded);
  std::vector<Change> parsed;
  for (const std::string_view change : changes) parsed.push_back(parse_change(change).value());
  return what_if.outcome(parsed);
}
std::int64_t step(const TraceText& text, std::initializer_list<std::string_view> changes) {
  return after(text, changes).step_ns.value_or(-1);
}

// Four steps of 600 us: a launch takes 500 us, loading code, and its kernel starts when it returns; another takes 5.
TraceText slow_launches() {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 600 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 600 * kUs);
    text.op("aten::group_norm", at + 10 * kUs, at + 520 * kUs);
    text.call("hipModuleLaunchKernel", at + 15 * kUs, at + 515 * kUs, 2 * i + 1);
    text.kernel("norm", at + 518 * kUs, at + 538 * kUs, 2 * i + 1);
    text.call("hipLaunchKernel", at + 560 * kUs, at + 565 * kUs, 2 * i + 2);
    text.kernel("add", at + 568 * kUs, at + 578 * kUs, 2 * i + 2);
  }
  return text;
}

TEST(LaunchesOnTheirWay, ASlowLaunchIsTimeOfTheHost) {
  const TraceText text = slow_launches();
  EXPECT_EQ(step(text, {"host=1x"}), 600 * kUs);
  EXPECT_NEAR(static_cast<double>(step(text, {"host=0.5x"})), 300e3, 10e3);
  EXPECT_NEAR(static_cast<double>(step(text, {"op:aten::group_norm=-400us"})), 200e3, 10e3);
  EXPECT_LT(step(text, {"cuda-graphs"}), 130 * kUs);  // one launch, instead of the first, too
}

// Of 25 us in which a launch was waited for, whatever it did before.
TEST(LaunchesOnTheirWay, ASlowLaunchIssuesBeforeItReturns) {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 600 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 600 * kUs);
    text.call("cudaGraphLaunch", at + 15 * kUs, at + 515 * kUs, i + 1);
    text.kernel("first", at + 20 * kUs, at + 590 * kUs, i + 1);  // while the call goes on
  }
  // The kernel decides: a host that is twice as fast saves 10 of the first 20 us of a step, and of the last 10.
  EXPECT_NEAR(static_cast<double>(step(text, {"host=0.5x"})), 580e3, 12e3);
  EXPECT_NEAR(static_cast<double>(step(text, {"kernel:first=0.5x"})), 600e3, 1e3);  // the host decides: a call of 500 us
}

// Two kernels of 100 us in a stream, then one of 50 in another that waits for them, and the host for that.
TraceText two_streams() {
  TraceText text;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = i * 280 * kUs;
    const int id = 10 * i;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 280 * kUs);
    text.call("cudaLaunchKernel", at + 6 * kUs, at + 11 * kUs, id + 1).kernel("mm_k", at + 10 * kUs, at + 110 * kUs, id + 1);
    text.call("cudaLaunchKernel", at + 19 * kUs, at + 24 * kUs, id + 2).kernel("mm_k", at + 111 * kUs, at + 211 * kUs, id + 2);
    text.call("cudaEventRecord", at + 26 * kUs, at + 27 * kUs, id + 3);
    text.call("cudaStreamWaitEvent", at + 28 * kUs, at + 29 * kUs, id + 4);
    text.call("cudaLaunchKernel", at + 35 * kUs, at + 40 * kUs, id + 5);
    text.kernel("mm_k", at + 212 * kUs, at + 262 * kUs, id + 5, 20);
    text.call("cudaStreamSynchronize", at + 45 * kUs, at + 265 * kUs);
  }
  return text;
}

TEST(LaunchesOnTheirWay, WorkThatWaitsForAStreamIsNotLongOnItsWay) {
  // 10 us to the first kernel, 50 + 1 + 50 + 1 + 25, 3 until the host wakes, 15 to the end.
  EXPECT_NEAR(static_cast<double>(step(two_streams(), {"kernel:mm_k=0.5x"})), 155e3, 2e3);
}

// A launch each 9 us, 12 us on its way, kernels of 4 us: never idle at a launch but for the first, and the host decides.
TEST(LaunchesOnTheirWay, AWayThatIsLongerThanALaunchTakes) {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 360 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 360 * kUs);
    for (int k = 0; k < 40; ++k) {
      const std::int64_t called = at + k * 9 * kUs;
      const int id = i * 40 + k + 1;
      text.call("hipLaunchKernel", called, called + 4 * kUs, id).kernel("k", called + 12 * kUs, called + 16 * kUs, id);
    }
  }
  EXPECT_LT(step(text, {"host=0.5x"}), 210 * kUs);
}

// Kernels of three streams in turns, 300 us of a step of 400: twice as long they take at least 600.
TEST(LaunchesOnTheirWay, LongerKernelsTakeNoLessThanTheyTakeInTurns) {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 400 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 400 * kUs);
    for (int s = 0; s < 3; ++s) {
      const int id = 3 * i + s + 1;
      text.call("runFunction", at + (10 + 110 * s) * kUs, at + (12 + 110 * s) * kUs, id);
      text.kernel("k", at + (15 + 110 * s) * kUs, at + (115 + 110 * s) * kUs, id, 7 + s);
    }
  }
  EXPECT_GE(step(text, {"kernel:k=2x"}), 600 * kUs);
  EXPECT_GE(step(text, {"kernel:k=4x"}), 1'200 * kUs);
}

// A kernel waits 500 us for another rank, long after its launch: in a graph it does so, too.
TEST(LaunchesOnTheirWay, AGraphWaitsForOthersAsLaunchesDo) {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 700 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 700 * kUs);
    for (int k = 0; k < 4; ++k) {
      const int id = 4 * i + k + 1;
      const std::int64_t start = at + (k == 0 ? 15 : 560 + 30 * k) * kUs;
      text.call("cudaLaunchKernel", at + (10 + 10 * k) * kUs, at + (14 + 10 * k) * kUs, id);
      text.kernel("k", start, start + 25 * kUs, id);
    }
  }
  EXPECT_GT(step(text, {"cuda-graphs"}), 600 * kUs);
}

}  // namespace
}  // namespace ridge
