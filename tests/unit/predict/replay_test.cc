// The step as a graph: hand-made programs whose answers are worked out beside them, and every trace replayed as recorded.
#include "predict/replay.h"

#include <vector>

#include <gtest/gtest.h>

#include "facts/scope.h"
#include "predict/step_graph.h"
#include "predict/step_length.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

// What a replay makes of a trace.
struct Step {
  explicit Step(std::unique_ptr<Trace> trace)
      : loaded(std::move(trace)),
        scope(*loaded.model),
        graph(build_step_graph(*loaded.model)),
        recorded(replay(graph)),
        length(scope, graph, recorded) {}

  LoadedTrace loaded;
  Scope scope;
  StepGraph graph;
  Replayed recorded;
  StepLength length;

  // With changed times: f(node, its duration).
  template <class F>
  std::int64_t changed(F f) const {
    StepTimes times(graph);
    for (std::uint32_t n = 0; n < graph.size(); ++n) f(n, &times.duration_ns[n]);
    return length.step_ns(replay(graph, times));
  }
  bool is_kernel(std::uint32_t node) const { return graph.kind[node] == StepKind::kernel; }
};

// Each node behind what it waits for; every node where it was recorded.
void expect_sound(const Step& step) {
  const StepGraph& g = step.graph;
  std::vector<std::uint32_t> position(g.size(), StepGraph::kNone);
  ASSERT_EQ(g.order.size(), g.size());
  EXPECT_EQ(g.start_ns.capacity(), g.size()) << "no room is left over";
  for (std::uint32_t i = 0; i < g.order.size(); ++i) {
    ASSERT_EQ(position[g.order[i]], StepGraph::kNone);
    position[g.order[i]] = i;
  }
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    if (!g.leads[n]) {
      ASSERT_LT(position[n - 1], position[n]);
    }
    for (std::uint32_t e = g.first_edge[n]; e < g.first_edge[n + 1]; ++e) ASSERT_LT(position[g.edge_from[e]], position[n]);
  }
}

// Two kernels of 100 us, launched 20 us apart: the second is queued. A step of 250 us on the host and the device.
//   host:   | step 0 ......................................|
//   launch:   10-15     30-35
//   device:       20-120 121-221
std::unique_ptr<Trace> queued() {
  return TraceText()
      .annotation("ProfilerStep#0", 0, 40'000)
      .call("cudaLaunchKernel", 10'000, 15'000, 1)
      .call("cudaLaunchKernel", 30'000, 35'000, 2)
      .kernel("a", 20'000, 120'000, 1)
      .kernel("b", 121'000, 221'000, 2)
      .annotation("ProfilerStep#1", 221'000, 261'000)
      .call("cudaLaunchKernel", 231'000, 236'000, 3)
      .kernel("a", 241'000, 242'000, 3)
      .read();
}

TEST(Replay, AQueuedKernelFollowsTheOneBeforeIt) {
  const Step step(queued());
  expect_sound(step);
  EXPECT_EQ(step.length.why_not(), "");
  // Step 0 takes 221 us, step 1 40: 130.5 on average.
  EXPECT_EQ(step.length.recorded_ns(), 130'500);
  EXPECT_EQ(step.length.step_ns(step.recorded), 130'500);
  // `a` of step 0 takes 50 us less: `b` starts 50 us earlier, and so step 0 ends. The next step begins when the host gets
  // there.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) {
    if (step.is_kernel(n) && *ns == 100'000 && step.graph.start_ns[n] == 20'000) *ns -= 50'000;
  }),
            130'500 - 25'000);
}

TEST(Replay, AKernelThatWaitedForItsLaunchMovesWithTheHost) {
  // The host takes 50 us between launches of kernels of 10 us.
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 310'000);
  for (int i = 0; i < 6; ++i) {
    text.call("cudaLaunchKernel", 10'000 + i * 50'000, 14'000 + i * 50'000, i + 1);
    text.kernel("k", 16'000 + i * 50'000, 26'000 + i * 50'000, i + 1);
  }
  const Step step(text.read());
  expect_sound(step);
  EXPECT_EQ(step.length.step_ns(step.recorded), 310'000);
  // Kernels of 5 us: the last one is no longer behind the host, which decides.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = step.is_kernel(n) ? 5'000 : *ns; }), 310'000);
  // Half of all host time: 155 us.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = step.is_kernel(n) ? *ns : *ns / 2; }), 155'000);
  // Kernels of 60 us: the first starts 6 us behind its launch at 10, each next one the usual gap (1 us where none was seen)
  // behind: 16 + 6 * 60 + 5 * 1.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = step.is_kernel(n) ? 60'000 : *ns; }), 381'000);
}

TEST(Replay, AHostThatWaitsReturnsWhenTheDeviceIsDone) {
  // Launch at 10, kernel 16 to 116, synchronised from 20 to 120; 30 us of work behind.
  const Step step(TraceText()
                      .annotation("ProfilerStep#0", 0, 150'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .kernel("k", 16'000, 116'000, 1)
                      .call("cudaDeviceSynchronize", 20'000, 120'000)
                      .read());
  expect_sound(step);
  EXPECT_EQ(step.graph.evidence.host_waits, 1);
  EXPECT_EQ(step.length.step_ns(step.recorded), 150'000);
  // The kernel takes 40 us: done at 56, the call returns at 60.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = step.is_kernel(n) ? 40'000 : *ns; }), 90'000);
  // It takes 200: done at 216, 220, 250.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = step.is_kernel(n) ? 200'000 : *ns; }), 250'000);
}

TEST(Replay, TheThreadThatCalledBackwardWaitsForAutograd) {
  // The main thread is silent from 20 to 100; autograd's runs from 30 to 90 and launches at 40 and 60.
  const Step step(TraceText()
                      .annotation("ProfilerStep#0", 0, 130'000)
                      .op("aten::mm", 5'000, 20'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .kernel("f", 16'000, 20'000, 1)
                      .op("autograd::engine::evaluate_function: MmBackward0", 30'000, 90'000, 2)
                      .call("cudaLaunchKernel", 40'000, 44'000, 2, 2)
                      .kernel("b", 46'000, 50'000, 2)
                      .call("cudaLaunchKernel", 60'000, 64'000, 3, 2)
                      .kernel("b", 66'000, 70'000, 3)
                      .op("aten::add", 100'000, 120'000)
                      .call("cudaLaunchKernel", 110'000, 114'000, 4)
                      .kernel("o", 116'000, 120'000, 4)
                      .read());
  expect_sound(step);
  EXPECT_EQ(step.graph.evidence.thread_handovers, 1);
  EXPECT_EQ(step.length.step_ns(step.recorded), 130'000);
  // Half of the time of autograd's thread, 60 us: 30 us less.
  const StepLane& worker = step.graph.lanes[1];
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) {
    if (n >= worker.first && n < worker.first + worker.count) *ns /= 2;
  }),
            100'000);
  // Half of the main thread's own 70 us, and autograd starts and ends earlier with it.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = n < worker.first ? *ns / 2 : *ns; }), 95'000);
}

TEST(Replay, WorkOfOneStreamWaitsForAnother) {
  // A copy on stream 20 from 20 to 120; the kernel on stream 7, launched at 30, starts right behind it.
  const Step step(TraceText()
                      .annotation("ProfilerStep#0", 0, 160'000)
                      .call("cudaMemcpyAsync", 10'000, 14'000, 1)
                      .copy("Memcpy HtoD (Pinned -> Device)", 20'000, 120'000, 1, 20)
                      .call("cudaStreamWaitEvent", 20'000, 21'000)
                      .call("cudaLaunchKernel", 30'000, 34'000, 2)
                      .kernel("k", 121'000, 131'000, 2)
                      .call("cudaDeviceSynchronize", 40'000, 135'000)
                      .read());
  expect_sound(step);
  EXPECT_EQ(step.graph.evidence.inferred_stream_waits, 1);
  EXPECT_EQ(step.length.step_ns(step.recorded), 160'000);
  // The copy takes 50 us less, and with it all behind.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) {
    if (step.graph.kind[n] == StepKind::copy) *ns -= 50'000;
  }),
            110'000);
}

// A host far ahead of the device, and work of a second stream that had no place beside the first's until its last blocks ran:
// it goes with the device, not with a launch long ago.
//   stream 7:   20 - 420 a                    845 - 1245 c
//   stream 20:          400 - 838 b (launched at 40)
TEST(Replay, WorkThatHadNoPlaceOnTheDeviceGoesWithWhatMadeRoom) {
  const Step step(TraceText()
                      .annotation("ProfilerStep#0", 0, 1'300'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .call("cudaLaunchKernel", 40'000, 44'000, 2)
                      .call("cudaStreamWaitEvent", 50'000, 51'000)
                      .call("cudaLaunchKernel", 60'000, 64'000, 3)
                      .kernel("a", 20'000, 420'000, 1)
                      .kernel("b", 400'000, 838'000, 2, 20)
                      .kernel("c", 845'000, 1'245'000, 3)
                      .call("cudaDeviceSynchronize", 70'000, 1'250'000)
                      .read());
  expect_sound(step);
  EXPECT_EQ(step.length.step_ns(step.recorded), 1'300'000);
  // `a` takes 200 us less, and so starts all behind it.
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) {
    if (step.is_kernel(n) && step.graph.start_ns[n] == 20'000) *ns -= 200'000;
  }),
            1'100'000);
}

TEST(Replay, ABlockingCopyHoldsTheHost) {
  const Step step(TraceText()
                      .annotation("ProfilerStep#0", 0, 200'000)
                      .call("cudaLaunchKernel", 10'000, 14'000, 1)
                      .kernel("k", 16'000, 116'000, 1)
                      .call("cudaMemcpyAsync", 20'000, 130'000, 2)
                      .copy("Memcpy DtoH (Device -> Pageable)", 117'000, 119'000, 2)
                      .read());
  expect_sound(step);
  EXPECT_EQ(step.length.step_ns(step.recorded), 200'000);
  EXPECT_EQ(step.changed([&](std::uint32_t n, std::int64_t* ns) { *ns = step.is_kernel(n) ? 50'000 : *ns; }), 150'000);
}

TEST(Replay, ClocksThatRunBackwardsMakeNoCycle) {
  // A kernel that starts before its launch, and a synchronisation that returns before its work ends.
  const Step step(TraceText()
                      .annotation("ProfilerStep#0", 0, 100'000)
                      .call("cudaLaunchKernel", 30'000, 34'000, 1)
                      .kernel("k", 10'000, 60'000, 1)
                      .call("cudaLaunchKernel", 36'000, 37'000, 2)
                      .kernel("k", 5'000, 90'000, 2)
                      .call("cudaDeviceSynchronize", 40'000, 50'000)
                      .read());
  expect_sound(step);
  EXPECT_EQ(step.length.step_ns(step.recorded), 100'000);
}

TEST(Replay, ATraceWithoutActivityHasNoStep) {
  const Step step(test::read_ok(test::trace_of("")));
  EXPECT_NE(step.length.why_not(), "");
}

TEST(Replay, TraceOfTheDeviceAloneIsReplayed) {
  const Step step(TraceText().kernel("a", 0, 10'000, 1).kernel("b", 20'000, 30'000, 2).read());
  expect_sound(step);
  EXPECT_EQ(step.length.step_ns(step.recorded), step.length.recorded_ns());
  EXPECT_EQ(step.graph.evidence.unlinked_work, 2);
}

// To 0.05 %: where clocks contradict each other, edges are left out.
TEST(Replay, RecordedTimesGiveTheRecordedStepOfEveryTrace) {
  for (const std::string& path : test::all_traces()) {
    SCOPED_TRACE(path);
    auto trace = read_trace(path, {});
    if (!trace) continue;
    const Step step(std::move(*trace));
    expect_sound(step);
    if (!step.length.why_not().empty()) continue;
    const double recorded = static_cast<double>(step.length.recorded_ns());
    const double replayed = static_cast<double>(step.length.step_ns(step.recorded));
    EXPECT_NEAR(replayed / recorded, 1, 0.0005);
  }
}

// 2,000 kernels of 100 us, launched every 10 us; the queue holds 600, and from then on each launch waits until a kernel has
// ended. With kernels twice as fast the step is half as long: such a wait is not the host's time.
TEST(Replay, AFullQueueIsWaitedForNotWorked) {
  constexpr int kKernels = 2'000, kPlaces = 600;
  const auto program = [](std::int64_t kernel_us) {
    TraceText text;
    std::vector<std::int64_t> ends;
    std::int64_t at = 0;
    for (int i = 0; i < kKernels; ++i) {
      std::int64_t returns = at + 5;
      if (i >= kPlaces) returns = std::max(returns, ends[static_cast<std::size_t>(i - kPlaces)] + 5);
      const std::int64_t start = std::max(returns + 3, ends.empty() ? 0 : ends.back());
      ends.push_back(start + kernel_us);
      text.call("cudaLaunchKernel", at * 1'000, returns * 1'000, i + 1).kernel("k", start * 1'000, ends.back() * 1'000, i + 1);
      at = returns + 5;
    }
    text.annotation("ProfilerStep#1", 0, at * 1'000);
    return std::pair(text.read(), ends.back());
  };
  auto [trace, took_us] = program(100);
  const Step step(std::move(trace));
  expect_sound(step);
  const std::int64_t halved =
      step.changed([&](std::uint32_t n, std::int64_t* duration) { *duration /= step.is_kernel(n) ? 2 : 1; });
  EXPECT_EQ(step.length.step_ns(step.recorded), took_us * 1'000);
  EXPECT_NEAR(static_cast<double>(halved), static_cast<double>(program(50).second * 1'000), 1e6);
}

}  // namespace
}  // namespace ridge
