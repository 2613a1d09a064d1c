// What iterations take where the host runs ahead of the device, and in traces of several processes.
#include "model/iteration_spans.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analysis/categories/categories.h"
#include "analysis/gpu/gpu.h"
#include "ingest/reader.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/trace_lines.h"

namespace ridge {
namespace {

// Three steps of the host in 30 us; the device needs 100 us for each.
std::unique_ptr<Trace> host_ahead() {
  test::TraceText text;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = std::int64_t{i} * 10'000;
    text.annotation("ProfilerStep#" + std::to_string(i + 5), at, at + 9'000).op("aten::mm", at + 1'000, at + 3'000);
    text.call("cudaLaunchKernel", at + 1'500, at + 2'000, i + 1)
        .kernel("gemm", 5'000 + i * 100'000, 105'000 + i * 100'000, i + 1);
  }
  return text.read();
}

TEST(IterationSpans, EndWhenTheDeviceHasDoneTheirWork) {
  const auto trace = host_ahead();
  const Model model(*trace);
  const std::vector<Iteration>& list = model.iterations().list;
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].span.start_ns, 0);
  EXPECT_EQ(list[0].span.end_ns, 105'000);
  EXPECT_EQ(list[1].begins_ns, 105'000);
  EXPECT_EQ(list[1].span.duration_ns(), 100'000);
  EXPECT_EQ(list[2].span.end_ns, 305'000);
  EXPECT_EQ(list[2].start_ns, 20'000);
  EXPECT_EQ(list[2].first_work_ns, 205'000);
}

TEST(IterationSpans, AStepsWindowHoldsItsWork) {
  const auto trace = host_ahead();
  const Model model(*trace);
  std::int64_t busy = 0, window = 0;
  for (const char* step : {"5", "6", "7"}) {
    const auto scope = make_scope(model, {{"step", step}});
    ASSERT_TRUE(scope);
    const Gpu gpu = compute_gpu(*scope);
    ASSERT_EQ(gpu.devices.size(), 1U);
    EXPECT_EQ(gpu.devices[0].busy_ns, 100'000) << step;
    EXPECT_EQ(compute_categories(*scope).time_ns, 100'000) << step;
    busy += gpu.devices[0].busy_ns;
    window += gpu.devices[0].window_ns;
  }
  EXPECT_EQ(busy, 300'000);
  EXPECT_EQ(window, trace->window->duration_ns());  // the steps share it out
}

// Work launched in a step lies in the window of that step, and all steps make up all of the work, on real traces.
TEST(IterationSpans, StepsShareOutTheBusyTime) {
  for (const std::string& path : test::own_traces()) {
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace) << path;
    const Model model(**trace);
    const std::vector<Iteration>& list = model.iterations().list;
    if (list.size() < 2 || model.timeline().devices.size() != 1) continue;
    const TimeRange all{list.front().begins_ns, (*trace)->window->end_ns};
    std::int64_t busy = 0;
    for (const Iteration& iteration : list) {
      const auto scope = make_scope(model, {{"step", std::to_string(iteration.number)}});
      ASSERT_TRUE(scope) << path;
      busy += compute_gpu(*scope).devices[0].busy_ns;
      EXPECT_GE(iteration.span.duration_ns(), 0) << path;
    }
    EXPECT_EQ(busy, busy_time(model.timeline().devices[0], all).length()) << path;
  }
}

// The recording began while the device still had work of the step before.
TEST(IterationSpans, WorkQueuedBeforeTheRecordingBelongsToNoStep) {
  test::TraceText text;
  text.kernel("gemm", 1'000, 60'000, 77);
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = std::int64_t{i} * 100'000;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 90'000).op("aten::mm", at + 1'000, at + 3'000);
    text.call("cudaLaunchKernel", at + 1'500, at + 2'000, i + 1).kernel("gemm", at + 61'000, at + 95'000, i + 1);
  }
  const auto trace = text.read();
  const Model model(*trace);
  ASSERT_TRUE(model.links().is_inherited(0));
  const std::vector<Iteration>& list = model.iterations().list;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].begins_ns, 60'000);
  EXPECT_EQ(list[0].span.duration_ns(), 35'000);
  const auto scope = make_scope(model, {{"step", "0"}});
  ASSERT_TRUE(scope);
  EXPECT_EQ(compute_categories(*scope).time_ns, 34'000);
  EXPECT_EQ(compute_gpu(*scope).devices.at(0).busy_ns, 34'000);
}

TEST(IterationSpans, WorkWithoutLaunchesElsewhereGoesByItsTime) {
  test::TraceText text;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = std::int64_t{i} * 100'000;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 90'000).kernel("gemm", at + 10'000, at + 20'000, i + 1);
  }
  const auto trace = text.read();
  const Model model(*trace);
  EXPECT_FALSE(model.links().is_inherited(0));
  const auto scope = make_scope(model, {{"step", "0"}});
  ASSERT_TRUE(scope);
  EXPECT_EQ(compute_categories(*scope).time_ns, 10'000);
}

// A server's steps cut the window: what is before the first mark belongs to the first step, which begins with its mark all the
// same, and not with its first launch; the last ends with its mark, where that is behind its work.
TEST(IterationSpans, AServersStepsBeginAndEndWithTheirMarks) {
  test::TraceText text;
  text.op("aten::empty", 0, 1'000);
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = 10'000 + std::int64_t{i} * 100'000;
    text.annotation("execute_context_1(8)_generation_0(0)", at, at + 90'000)
        .call("cudaLaunchKernel", at + 30'000, at + 31'000, i + 1)
        .kernel("gemm", at + 32'000, at + 60'000, i + 1);
  }
  text.op("aten::empty", 240'000, 250'000);
  const auto trace = text.read();
  const Model model(*trace);
  const std::vector<Iteration>& list = model.iterations().list;
  ASSERT_EQ(model.iterations().rule, IterationRule::server_step);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].start_ns, 0);
  EXPECT_EQ(list[0].span.start_ns, 10'000);
  EXPECT_EQ(list[0].span.end_ns, 110'000);
  EXPECT_EQ(list[1].span.start_ns, 110'000);
  EXPECT_EQ(list[1].span.end_ns, 200'000);
}

TEST(IterationSpans, AFirstStepThatTheDeviceBeganLateBeginsThere) {
  // One step of a host that is far ahead: 10 us on the host, and the device comes to it 100 us later.
  test::TraceText text;
  text.annotation("ProfilerStep#5", 0, 10'000).call("cudaLaunchKernel", 1'000, 2'000, 1).kernel("gemm", 100'000, 150'000, 1);
  const auto trace = text.read();
  const Model model(*trace);
  ASSERT_EQ(model.iterations().list.size(), 1U);
  EXPECT_EQ(model.iterations().list[0].span.duration_ns(), 50'000);
}

TEST(Iterations, BeginWithTheLookupOfTheirRegion) {
  test::TraceText text;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = std::int64_t{i} * 100'000;
    text.op("TorchDynamo Cache Lookup", at + 10'000, at + 12'000)
        .op("Torch-Compiled Region: 0/0", at + 13'000, at + 60'000)
        .call("cudaLaunchKernel", at + 20'000, at + 22'000, i + 1)
        .kernel("gemm", at + 25'000, at + 50'000, i + 1);
  }
  const auto trace = text.read();
  const Model model(*trace);
  const Iterations& iterations = model.iterations();
  ASSERT_EQ(iterations.rule, IterationRule::compiled_graph);
  ASSERT_EQ(iterations.list.size(), 3U);
  EXPECT_EQ(iterations.list[1].start_ns, 110'000);
  EXPECT_EQ(iterations.list[2].start_ns, 210'000);
}

TEST(IterationSpans, TheStepThatTheRecordingEndedInIsNone) {
  test::TraceText text;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = std::int64_t{i} * 100'000;
    text.annotation("ProfilerStep#" + std::to_string(i), at, at + 90'000).op("aten::mm", at + 1'000, at + 3'000);
    text.call("cudaLaunchKernel", at + 1'500, at + 2'000, i + 1).kernel("gemm", at + 5'000, at + 80'000, i + 1);
  }
  text.annotation("ProfilerStep#2", 200'000, 200'049);
  const auto trace = text.read();
  EXPECT_EQ(Model(*trace).iterations().list.size(), 2U);
}

// A stream's wait for another, as MTIA writes it, is no work: neither queued before the recording, nor the end of a step.
TEST(IterationSpans, WaitsOfAStreamAreNoWork) {
  const auto on_stream = [](std::string_view name, int stream, int ts, int dur) {
    return fmt::format(
        R"(, {{"ph": "X", "cat": "mtia_ccp_events", "name": "{}", "pid": 17, "tid": {}, "ts": {}, "dur": {}, "args": {{"stream": {}, "correlation": {}}}}})",
        name, stream, ts, dur, stream, ts);
  };
  const std::string launch =
      R"({"ph": "X", "cat": "mtia_runtime", "name": "runtime", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"correlation": 20}})";
  const auto span = [&](const std::string& waits) {
    const auto trace = test::read_ok(test::trace_of(launch + on_stream("fc", 101, 20, 60) + waits));
    return Model(*trace).iterations().list.front().span;
  };
  const TimeRange alone = span("");
  EXPECT_EQ(alone.duration_ns(), 70'000);
  const TimeRange with = span(on_stream("event_wait", 101, 12, 30) + on_stream("event_wait", 107, 12, 40));
  EXPECT_EQ(with.duration_ns(), alone.duration_ns());
}

TEST(IterationSpans, FirstIterationIsMeasuredWhereTheDeviceBeginsThem) {
  const auto trace = host_ahead();
  const Model model(*trace);
  const std::vector<std::size_t> all = {0, 1, 2};
  const auto first = first_iteration(model.iterations(), all);
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(first->ratio(), 1.0);
  EXPECT_FALSE(first_iteration(model.iterations(), std::span(all).first(2)));
}

// Three steps of 200 us; the kernel of the second is launched late in it, so that the first two kernels lie 380 us apart and
// the last two 120.
TEST(IterationSpans, ASecondIterationThatLaunchesLateMakesNoOutlierOfTheFirst) {
  test::TraceText text;
  for (const auto& [step, launched] : {std::pair(0, 10'000), std::pair(1, 390'000), std::pair(2, 510'000)}) {
    const std::int64_t at = step * 200'000LL + (step == 2 ? 50'000 : 0);
    text.annotation("ProfilerStep#" + std::to_string(step), at, at + 200'000)
        .op("aten::mm", launched - 2'000, launched + 4'000);
    text.call("cudaLaunchKernel", launched, launched + 2'000, step + 1);
    text.kernel("gemm", launched + 5'000, launched + 9'000, step + 1);
  }
  const auto trace = text.read();
  const Model model(*trace);
  const std::vector<std::size_t> all = {0, 1, 2};
  const auto first = first_iteration(model.iterations(), all);
  ASSERT_TRUE(first);
  EXPECT_GT(first->ratio(), 2);
  EXPECT_LT(first->span_ratio, 1.2);
  EXPECT_FALSE(first->outlies());
}

// A step without work is not the one that is compared; behind it one of 1500 us, then five of 300.
TEST(IterationSpans, TheFirstIterationIsOneWithWork) {
  test::TraceText text;
  std::int64_t at = 0;
  for (int step = 0; step < 7; ++step) {
    const std::int64_t length = step == 0 ? 100'000 : step == 1 ? 1'500'000 : 300'000;
    text.annotation("ProfilerStep#" + std::to_string(step), at, at + length);
    if (step > 0) text.call("cudaLaunchKernel", at + 10'000, at + 12'000, step).kernel("k", at + 15'000, at + 20'000, step);
    at += length;
  }
  const auto trace = text.read();
  const Model model(*trace);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5, 6};
  const auto first = first_iteration(model.iterations(), all);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->outlies());
  EXPECT_EQ(first->first_ns, 1'500'000);
  EXPECT_EQ(first->index, 1U);
  EXPECT_EQ(first->next, 2U);
}

// Twenty turns of three kernels, 20 us apart, but for the very first, which is 90 us early: the body of a loop, unless the user
// says that they are iterations.
TEST(IterationSpans, AGuessedFirstIterationOfFewKernelsIsNotCompared) {
  test::TraceText text;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t at = i == 0 ? 10'000 : 100'000 + i * 20'000;
    text.call("cudaLaunchKernel", at, at + 5'000, i + 1).kernel("k" + std::to_string(i % 3), at + 6'000, at + 8'000, i + 1);
  }
  const auto trace = text.read();
  const auto ratio = [&](std::int64_t runs) -> std::optional<double> {
    const Model model(*trace, runs);
    EXPECT_EQ(model.iterations().list.size(), 20U);
    std::vector<std::size_t> all(model.iterations().list.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto first = first_iteration(model.iterations(), all);
    return first ? std::optional(first->ratio()) : std::nullopt;
  };
  EXPECT_EQ(ratio(0), std::nullopt);
  EXPECT_EQ(ratio(20), 2.5);  // 150 us from its first work to that of the second, against 60
}

// Two ranks in one file, each with its own optimizer steps: two iterations, not four.
TEST(Iterations, AreThoseOfOneProcess) {
  std::string events;
  int correlation = 0;
  for (const int pid : {100, 200}) {
    for (const int at : {0, 1000}) {
      ++correlation;
      const auto slice = [&](const char* cat, const char* name, int process, int tid, int start, int dur,
                             const std::string& args) {
        events += (events.empty() ? "" : ",") + std::string(R"({"ph":"X","cat":")") + cat + R"(","name":")" + name +
                  R"(","pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" +
                  std::to_string(start) + R"(,"dur":)" + std::to_string(dur) + R"(,"args":{)" + args + "}}";
      };
      const int from = at + (pid == 200 ? 30 : 0);
      const std::string id = R"("correlation":)" + std::to_string(correlation);
      slice("cpu_op", "aten::add_", pid, 1, from, 500, "");
      slice("cuda_runtime", "cudaLaunchKernel", pid, 1, from + 10, 5, id);
      slice("user_annotation", "Optimizer.step#SGD.step", pid, 1, from + 600, 100, "");
      slice("kernel", "k", 0, 7, from + 20, 10, R"("device":0,"stream":7,)" + id);
    }
  }
  const auto trace = read_trace_bytes(R"({"traceEvents":[)" + events + "]}", "ranks", {});
  ASSERT_TRUE(trace);
  const Model model(**trace);
  EXPECT_EQ(model.iterations().rule, IterationRule::optimizer_step);
  EXPECT_EQ(model.iterations().count(), 2);
}

}  // namespace
}  // namespace ridge
