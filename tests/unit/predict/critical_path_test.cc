// The critical path: hand-made steps whose path is known, and on every trace that its pieces add up to the step.
#include "predict/critical_path.h"

#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

#include "analysis/critical/critical.h"
#include "predict/what_if.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

struct Path {
  explicit Path(std::unique_ptr<Trace> trace)
      : loaded(std::move(trace)),
        scope(*loaded.model),
        what_if(scope, WhatIf::From::recorded),
        course(what_if.why_not().empty() ? what_if.course(what_if.base()) : StepCourse()),
        pieces(critical_path(what_if.graph(), what_if.base(), course.replayed, course.spans)) {}

  LoadedTrace loaded;
  Scope scope;
  WhatIf what_if;
  StepCourse course;
  std::vector<PathPiece> pieces;

  std::int64_t time_of(PathSort sort) const {
    std::int64_t sum = 0;
    for (const PathPiece& piece : pieces) sum += piece.sort == sort ? piece.time.length() : 0;
    return sum;
  }
};

TEST(CriticalPath, GoesThroughTheWorkThatTheHostWaitedFor) {
  const Path path(TraceText()
                      .annotation("ProfilerStep#0", 0, 150'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .kernel("k", 16'000, 116'000, 1)
                      .call("cudaDeviceSynchronize", 20'000, 120'000)
                      .read());
  EXPECT_EQ(path.time_of(PathSort::host), 10'000 + 30'000);  // ahead of the launch, and behind the wait
  EXPECT_EQ(path.time_of(PathSort::launch), 6'000);
  EXPECT_EQ(path.time_of(PathSort::kernel), 100'000);
  EXPECT_EQ(path.time_of(PathSort::sync), 4'000);
  EXPECT_EQ(path.time_of(PathSort::wait), 0);
}

// A call of 4 us, and work that starts 5 ms later on an idle device: another process, or what else the trace does not tell.
TEST(CriticalPath, WhatStartsLongBehindItsLaunchIsNoSlowLaunch) {
  const Path path(TraceText()
                      .annotation("ProfilerStep#0", 0, 5'200'000)
                      .call("hipStreamWaitEvent", 5'000, 6'000)
                      .call("hipLaunchKernel", 10'000, 14'000, 1)
                      .kernel("k", 5'010'000, 5'110'000, 1)
                      .call("hipDeviceSynchronize", 20'000, 5'112'000)
                      .read());
  EXPECT_EQ(path.time_of(PathSort::wait), 5'000'000);
  EXPECT_EQ(path.time_of(PathSort::launch), 0);
  const Critical critical = compute_critical(path.scope, CriticalBy::name, false);
  EXPECT_EQ(critical.rows.at(0).name, "[another stream or process]");
}

TEST(CriticalPath, GoesAlongTheStreamWhileTheQueueIsFull) {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 60'000);
  for (int i = 0; i < 4; ++i) {
    text.call("cudaLaunchKernel", 10'000 + i * 10'000, 14'000 + i * 10'000, i + 1);
    text.kernel("k", 16'000 + i * 101'000, 116'000 + i * 101'000, i + 1);
  }
  const Path path(text.read());
  EXPECT_EQ(path.time_of(PathSort::host), 10'000);
  EXPECT_EQ(path.time_of(PathSort::launch), 6'000);
  EXPECT_EQ(path.time_of(PathSort::kernel), 400'000);
  EXPECT_EQ(path.time_of(PathSort::wait), 3'000);
  EXPECT_EQ(path.course.spans.length(), 419'000);
}

TEST(CriticalPath, GoesToTheThreadThatWasWaitedFor) {
  const Path path(TraceText()
                      .annotation("ProfilerStep#0", 0, 130'000)
                      .op("aten::mm", 5'000, 20'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .kernel("f", 16'000, 20'000, 1)
                      .op("autograd::engine::evaluate_function: MmBackward0", 30'000, 90'000, 2)
                      .call("cudaLaunchKernel", 40'000, 44'000, 2, 2)
                      .kernel("b", 46'000, 50'000, 2)
                      .op("aten::add", 100'000, 120'000)
                      .read());
  // All of it is the host's: two calls of 4 us, the rest work of the two threads.
  EXPECT_EQ(path.time_of(PathSort::launch), 8'000);
  EXPECT_EQ(path.time_of(PathSort::host), 122'000);
}

TEST(CriticalPath, TwoPathsOfNearlyTheSameLength) {
  // The host needs 200 us, with a wait at its end; a kernel launched at 10 ends at 196.
  const Path path(TraceText()
                      .annotation("ProfilerStep#0", 0, 210'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .kernel("k", 16'000, 196'000, 1)
                      .call("cudaDeviceSynchronize", 200'000, 202'000)
                      .read());
  EXPECT_EQ(path.time_of(PathSort::kernel), 0);
  const auto near = near_paths(path.what_if, path.course, path.pieces);
  ASSERT_EQ(near.size(), 1U);
  // 10 + 6 of launch + 180 + the return of the wait (5, what is usual) + 8.
  EXPECT_EQ(near[0].length_ns, 209'000);
}

TEST(CriticalPath, PiecesAddUpToTheStepOfEveryTrace) {
  for (const std::string& file : test::all_traces()) {
    SCOPED_TRACE(file);
    auto trace = read_trace(file, {});
    if (!trace) continue;
    const Path path(std::move(*trace));
    if (!path.what_if.why_not().empty()) continue;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
      sum += path.pieces[i].time.length();
      if (i > 0) {
        EXPECT_LE(path.pieces[i].time.end_ns, path.pieces[i - 1].time.start_ns);
      }
    }
    EXPECT_EQ(sum, path.course.spans.length());
    for (const bool without_profiler : {false, true}) {
      const Critical critical = compute_critical(path.scope, CriticalBy::op, without_profiler);
      std::int64_t time = 0;
      for (const CriticalRow& row : critical.rows) time += row.time_ns;
      EXPECT_EQ(time, critical.step_ns);
      for (const CriticalNear& near : critical.near) {
        EXPECT_LE(near.time_ns, critical.step_ns);
        EXPECT_EQ(std::accumulate(near.by_sort.begin(), near.by_sort.end(), std::int64_t{0}), near.time_ns);
      }
      // One step, whoever tells it: also where the recording begins with an empty queue and the program goes on.
      const WhatIf whatif(path.scope, without_profiler ? WhatIf::From::without_profiler : WhatIf::From::recorded);
      EXPECT_EQ(critical.step_ns, whatif.base_ns()) << without_profiler;
    }
  }
}

}  // namespace
}  // namespace ridge
