// SteadyStep: any part of a program that does the same in every step goes on at the same pace.
#include "predict/steady_step.h"

#include <gtest/gtest.h>

#include "facts/scope.h"
#include "predict/step_length.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

// Four steps of 130 us. In each the main thread is silent from 20 to 100 us; autograd's runs from 30 to 90 us. In between it
// waits for the main thread of the next step, from before that step begins.
std::unique_ptr<Trace> training() {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const int at = i * 130'000, id = 10 * i;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 130'000);
    text.op("aten::mm", at + 5'000, at + 20'000);
    text.call("cudaLaunchKernel", at + 10'000, at + 14'000, id + 1).kernel("f", at + 16'000, at + 20'000, id + 1);
    text.op("autograd::engine::evaluate_function: MmBackward0", at + 30'000, at + 90'000, 2);
    text.call("cudaLaunchKernel", at + 40'000, at + 44'000, id + 2, 2).kernel("b", at + 46'000, at + 50'000, id + 2);
    text.op("aten::add", at + 100'000, at + 120'000);
    text.call("cudaLaunchKernel", at + 110'000, at + 114'000, id + 3).kernel("o", at + 116'000, at + 120'000, id + 3);
  }
  return text.read();
}

TEST(SteadyStep, AThreadThatWaitsSinceTheStepBeforeStillWaits) {
  const LoadedTrace loaded(training());
  const StepGraph graph = build_step_graph(*loaded.model);
  ASSERT_EQ(graph.evidence.thread_handovers, 4);
  const Replayed recorded = replay(graph);
  for (const char* steps : {"0-3", "0", "1", "2", "3", "1-2", "2-3"}) {
    const auto scope = make_scope(*loaded.model, {{"step", steps}});
    ASSERT_TRUE(scope) << steps;
    const StepLength length(*scope, graph, recorded);
    const SteadyStep steady = length.steady();
    EXPECT_EQ(length.step_ns(recorded), 130'000) << steps;
    EXPECT_EQ(steady.step_ns(StepTimes(graph)), 130'000) << steps;
    StepTimes half(graph);
    for (std::uint32_t node = 0; node < graph.first_device; ++node) {
      if (graph.kind[node] != StepKind::wait) half.duration_ns[node] /= 2;
    }
    EXPECT_EQ(steady.step_ns(half), 65'000) << steps << ": half of the main thread's 70 us and of autograd's 60";
  }
}

// A loop that ends with the backward pass, without marks or an optimizer: the window is cut into steps by the device's work,
// and behind the last launch the main thread still waits for autograd's.
TEST(SteadyStep, TheLastStepWaitsForAutogradBehindTheLastLaunch) {
  TraceText text;
  for (int i = 0; i < 4; ++i) {
    const int at = i * 100'000, id = 10 * i;
    text.op("aten::mm", at + 5'000, at + 20'000);
    text.call("cudaLaunchKernel", at + 10'000, at + 14'000, id + 1).kernel("f", at + 16'000, at + 20'000, id + 1);
    text.op("autograd::engine::evaluate_function: MmBackward0", at + 30'000, at + 90'000, 2);
    text.call("cudaLaunchKernel", at + 40'000, at + 44'000, id + 2, 2).kernel("b", at + 46'000, at + 50'000, id + 2);
    text.call("cudaLaunchKernel", at + 70'000, at + 74'000, id + 3, 2).kernel("g", at + 76'000, at + 80'000, id + 3);
  }
  text.call("cudaDeviceSynchronize", 400'000, 402'000);
  const LoadedTrace loaded(text.read());
  ASSERT_EQ(loaded.model->iterations().count(), 4);
  const StepGraph graph = build_step_graph(*loaded.model);
  const Replayed recorded = replay(graph);
  const auto scope = make_scope(*loaded.model, {{"step", "3"}});
  ASSERT_TRUE(scope);
  const SteadyStep steady = StepLength(*scope, graph, recorded).steady();
  EXPECT_EQ(steady.step_ns(StepTimes(graph)), 80'000);  // from the first launch, at 10, until autograd is done, at 90
  StepTimes half(graph);
  for (std::uint32_t node = 0; node < graph.first_device; ++node) {
    if (graph.kind[node] != StepKind::wait) half.duration_ns[node] /= 2;
  }
  EXPECT_EQ(steady.step_ns(half), 40'000);
}

}  // namespace
}  // namespace ridge
