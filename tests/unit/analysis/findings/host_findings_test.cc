// What the host does to the device's time: batches, launches, compilation, allocations. On traces made by hand,
// with the savings computed by hand; and on the same trace without the fault.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "analysis/launches/launches.h"
#include "support/says.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::Program;
using test::TraceText;

// The host fetches a batch from 110 to 510 us; the device idles from 110 to 520.
TEST(HostFindings, Dataloader) {
  Program with;
  with.kernel(10).kernel(520);
  with.text.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 110 * kUs, 510 * kUs);
  const Found found = found_in(with.text);
  ASSERT_EQ(found.rank("dataloader"), 1U) << found.ids();
  EXPECT_EQ(found.find("dataloader")->finding.at_most_ns, 410 * kUs);  // a host that does not wait may be ahead
  Program without;
  without.kernel(10).kernel(520);
  EXPECT_FALSE(found_in(without.text).has("dataloader"));
}

// The first batch is waited for like any other; starting the workers is done once, and no iteration's.
TEST(HostFindings, BatchBeforeTheFirstKernel) {
  Program program;
  program.kernel(1'000).kernel(1'110);
  Program starts = program;
  program.text.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10 * kUs, 900 * kUs);
  const Found found = found_in(program.text);
  ASSERT_EQ(found.rank("dataloader"), 1U) << found.ids();
  EXPECT_EQ(found.find("dataloader")->finding.at_most_ns, 900 * kUs);  // 10 us of it late
  EXPECT_EQ(found.findings.time.total_ns(), (1'210 - 994 + 890) * kUs);
  starts.text.frame("torch/utils/data/dataloader.py(500): __iter__", 10 * kUs, 900 * kUs);
  EXPECT_EQ(found_in(starts.text).ids(), "");
}

// A step that the program has marked waits for its batch, the first and only one of the trace like any other.
TEST(HostFindings, BatchOfAMarkedStepIsAFinding) {
  Program program;
  program.kernel(1'000).kernel(1'110);
  program.text.annotation("ProfilerStep#7", 0, 1'300 * kUs);
  program.text.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10 * kUs, 900 * kUs);
  const Found found = found_in(program.text);
  ASSERT_EQ(found.rank("dataloader"), 1U) << found.ids();
  EXPECT_EQ(found.find("dataloader")->finding.at_most_ns, 900 * kUs);  // 10 us of it late
}

// An overhead event from 120 to 320 us while the device idles from 110 to 400; none in the twin.
TEST(HostFindings, ProfilerOverhead) {
  const std::string kernels = test::join({test::launch(1, 2, 5, "k", 10, 100), test::launch(2, 390, 5, "k", 400, 100)});
  const std::string overhead = test::event({.name = "Command Buffer Full", .ts = 120, .dur = 200, .cat = "overhead", .tid = 0});
  const Found found = test::found_in_events(kernels + ", " + overhead);
  ASSERT_TRUE(found.has("profiler_overhead")) << found.ids();
  EXPECT_EQ(found.find("profiler_overhead")->finding.at_most_ns, 200 * kUs);
  EXPECT_FALSE(test::found_in_events(kernels).has("profiler_overhead"));
  const std::string outside = test::event({.name = "Buffer Flush", .ts = 600, .dur = 200, .cat = "overhead", .tid = 0});
  EXPECT_FALSE(test::found_in_events(kernels + ", " + outside).has("profiler_overhead"));
}

// Two ranks in one file, one behind the other as `combine` writes them: each is held up by its own profiler, for 100 and 200
// us.
TEST(HostFindings, ProfilerOverheadOfAnotherProcess) {
  const auto rank = [](int r, int overhead_us) {
    const auto slice = [](std::string_view cat, std::string_view name, int pid, int ts, int dur, const std::string& args) {
      return fmt::format(
          R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": 7, "ts": {}, "dur": {}, "args": {{{}}}}})", cat, name,
          pid, ts, dur, args);
    };
    std::string events;
    for (int i = 0; i < 2; ++i) {
      const int id = r * 10 + i + 1;
      events +=
          slice("cuda_runtime", "cudaLaunchKernel", 500 + r, 2 + i * 390, 5, fmt::format(R"("correlation": {})", id)) + ", ";
      events +=
          slice("kernel", "k", r, 10 + i * 390, 100, fmt::format(R"("device": {}, "stream": 7, "correlation": {})", r, id)) +
          ", ";
      if (i == 0) events += slice("overhead", "Buffer Flush", 1'000'000 + r, 120 + 110 * r, overhead_us, "") + ", ";
    }
    return events.substr(0, events.size() - 2);
  };
  const Found found = test::found_in_events(rank(0, 100) + ", " + rank(1, 160));
  ASSERT_TRUE(found.has("profiler_overhead")) << found.ids();
  EXPECT_EQ(found.find("profiler_overhead")->finding.at_most_ns, 160 * kUs);
}

// What `launches` calls not launch-bound is not found to be: the host launches every 10 us what takes 12, but was late for the
// first ten.
TEST(HostFindings, AHostThatKeepsUpIsNotLaunchBound) {
  TraceText text;
  std::int64_t device = 0;
  for (int i = 1; i <= 100; ++i) {
    const std::int64_t at = i <= 10 ? i * 30 * kUs : 300 * kUs + (i - 10) * 8 * kUs;
    device = std::max(device, at + 8 * kUs);
    text.call("cudaLaunchKernel", at, at + 5 * kUs, i).kernel("k", device, device + 12 * kUs, i);
    device += 12 * kUs;
  }
  const test::LoadedTrace loaded(text.read());
  const DeviceLaunches launches = compute_launches(Scope(*loaded.model)).devices.at(0);
  EXPECT_EQ(launches.launch_bound, false);
  EXPECT_GT(launches.idle_of(IdleCause::launch) + launches.idle_of(IdleCause::recorder), launches.window_ns / 10);
  EXPECT_FALSE(found_in(text).has("launch_bound")) << found_in(text).ids();
}

TEST(HostFindings, GraphsAreAdvisedWhereThereAreAny) {
  const auto action = [](std::string_view call) {
    TraceText text;
    for (int i = 1; i <= 60; ++i)
      text.call(call, i * 30 * kUs, (i * 30 + 5) * kUs, i)
          .kernel(i % 2 == 0 ? "a" : "b", (i * 30 + 6) * kUs, (i * 30 + 16) * kUs, i);
    const Found found = found_in(text);
    return found.has("launch_bound") ? found.find("launch_bound")->finding.action : "none of " + found.ids();
  };
  EXPECT_NE(action("hipLaunchKernel").find("CUDA graphs"), std::string::npos) << action("hipLaunchKernel");
  EXPECT_NE(action("urEnqueueKernelLaunch").find("larger batch"), std::string::npos) << action("urEnqueueKernelLaunch");
  EXPECT_EQ(action("urEnqueueKernelLaunch").find("CUDA"), std::string::npos) << action("urEnqueueKernelLaunch");
}

// A long product without TF32 under a host that takes far longer: faster, it saves nothing, and the finding says why.
TEST(HostFindings, WhatTheStepDoesNotWaitForSaysSo) {
  std::string events;
  for (int i = 0; i < 4; ++i) {
    const int at = 100 + i * 2'000;
    events += test::event({.name = fmt::format("ProfilerStep#{}", i), .ts = at - 50, .dur = 1'990, .cat = "user_annotation"}) +
              ", " + test::event({.name = "aten::mm", .ts = at, .dur = 20}) + ", " +
              test::launch(i + 1, at + 5, 5, "ampere_sgemm_128x64_nn", at + 15, 400) + ", ";
    for (int j = 0; j < 30; ++j) events += test::event({.name = "aten::add", .ts = at + 100 + 60 * j, .dur = 55}) + ", ";
  }
  const Found found = test::found_on_h200(events.substr(0, events.size() - 2));
  const RankedFinding* row = found.find("tf32_off");
  ASSERT_NE(row, nullptr) << found.ids();
  EXPECT_EQ(row->savings.saves_ns, 0);
  EXPECT_NE(row->finding.finding.find("the step does not wait for it"), std::string::npos) << row->finding.finding;
}

// 200 kernels of 10 us, each waited for 20 us, while the host runs 13 ops for each: recording them costs most of
// that.
TEST(HostFindings, WhatRecordingMayExplainIsSaid) {
  TraceText text;
  for (int i = 1; i <= 200; ++i) {
    const std::int64_t at = i * 30 * kUs;
    for (int op = 0; op < 13; ++op) text.op("aten::view", at - (20 - op) * kUs, at - (20 - op) * kUs + kUs / 2);
    text.call("cudaLaunchKernel", at - 5 * kUs, at - kUs, i).kernel(i % 2 == 0 ? "a" : "b", at, at + 10 * kUs, i);
  }
  const test::LoadedTrace loaded(text.read());
  const Scope scope(*loaded.model);
  const Report findings = report_findings(compute_findings(scope));
  EXPECT_EQ(std::ranges::count(findings.diagnostics, "recorder_may_explain", &Diagnostic::code), 1);
  const Launches launches = compute_launches(scope);
  ASSERT_EQ(launches.devices.size(), 1U);
  EXPECT_TRUE(test::says(launch_verdict(launches.devices[0]), {"not launch-bound when nobody records"}));
}

TEST(HostFindings, AutotuningAndTheCompilationAroundIt) {
  Program program;
  program.kernel(10)
      .kernel(150, "triton_poi_fused_add_0", 20)
      .kernel(200, "triton_poi_fused_add_0", 20)
      .kernel(610, "triton_poi_fused_add_0");
  program.text.op("compile_fx_inner (dynamo_timed)", 112 * kUs, 600 * kUs);
  program.text.op("CachingAutotuner.benchmark_all_configs (dynamo_timed)", 120 * kUs, 300 * kUs);
  const Found found = found_in(program.text);
  ASSERT_TRUE(found.has("autotune_in_window")) << found.ids();
  // The tuner's two kernels and the idle time between 120 and 300 us.
  EXPECT_EQ(found.find("autotune_in_window")->finding.at_most_ns, 180 * kUs);
  ASSERT_TRUE(found.has("compile_in_window")) << found.ids();
  // 112 to 120 and 300 to 600.
  EXPECT_EQ(found.find("compile_in_window")->finding.at_most_ns, 308 * kUs);
  EXPECT_TRUE(test::says(found.find("compile_in_window")->finding.evidence, {"308.000 us"}));
}

// A lookup that misses, a compilation, and the region compiled: of a frame that had code (0/1), or of a new one (0/0).
TEST(HostFindings, RecompilesAndFirstCompilations) {
  const auto program = [](std::string_view region) {
    Program p;
    p.kernel(10).kernel(520);
    p.text.op("TorchDynamo Cache Lookup", 112 * kUs, 115 * kUs)
        .op("_compile.compile_inner (dynamo_timed)", 116 * kUs, 500 * kUs);
    p.text.op(fmt::format("Torch-Compiled Region: {}", region), 505 * kUs, 530 * kUs);
    return found_in(p.text);
  };
  const Found again = program("0/1");
  ASSERT_EQ(again.rank("recompiles"), 1U) << again.ids();
  EXPECT_EQ(again.find("recompiles")->finding.at_most_ns, 390 * kUs);  // from the lookup's end to the region's start
  EXPECT_FALSE(again.has("compile_in_window")) << again.ids();
  const Found first = program("0/0");
  ASSERT_EQ(first.rank("compile_in_window"), 1U) << first.ids();
  EXPECT_EQ(first.find("compile_in_window")->finding.at_most_ns, 384 * kUs);
  EXPECT_FALSE(first.has("recompiles")) << first.ids();
}

// What the compiler runs on the device goes with the compilation, of a new frame or of one that had code.
TEST(HostFindings, KernelsOfTheCompilerGoWithTheCompilation) {
  const auto program = [](std::string_view region) {
    Program p;
    p.kernel(10).kernel(200, "gemm", 60).kernel(520);
    p.text.op("TorchDynamo Cache Lookup", 112 * kUs, 115 * kUs)
        .op("_compile.compile_inner (dynamo_timed)", 116 * kUs, 500 * kUs);
    p.text.op(fmt::format("Torch-Compiled Region: {}", region), 505 * kUs, 530 * kUs);
    return found_in(p.text);
  };
  const Found again = program("0/1");
  ASSERT_EQ(again.rank("recompiles"), 1U) << again.ids();
  EXPECT_EQ(again.find("recompiles")->finding.at_most_ns, 390 * kUs);
  EXPECT_FALSE(again.has("compile_in_window")) << again.ids();
  const Found first = program("0/0");
  ASSERT_EQ(first.rank("compile_in_window"), 1U) << first.ids();
  EXPECT_EQ(first.find("compile_in_window")->finding.at_most_ns, 384 * kUs);
}

// cudaMalloc in each iteration, against cudaMalloc in the first one only.
TEST(HostFindings, AllocatorInSteadyState) {
  const auto program = [](int allocating) {
    Program p;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t at = i * 1'000;
      p.text.annotation(fmt::format("ProfilerStep#{}", i), at * kUs, (at + 999) * kUs);
      p.kernel(at + 10).kernel(at + 500);
      if (i < allocating) p.text.call("cudaMalloc", (at + 120) * kUs, (at + 480) * kUs);
    }
    return found_in(p.text);
  };
  EXPECT_TRUE(program(4).has("allocator")) << program(4).ids();
  EXPECT_FALSE(program(1).has("allocator")) << program(1).ids();
}

// Iterations of 1 ms each on the device; the first takes `first_ms`.
TEST(HostFindings, FirstIterationThatIsNoExample) {
  const auto program = [](std::int64_t first_ms) {
    Program p;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t at = (i == 0 ? 0 : first_ms - 1 + i) * 1'000;
      p.text.annotation(fmt::format("ProfilerStep#{}", i), at * kUs, (at + (i == 0 ? first_ms : 1) * 1'000 - 1) * kUs);
      p.kernel(at + 10).kernel(at + 500);
    }
    return found_in(p.text);
  };
  EXPECT_TRUE(program(4).has("first_iteration_outlier")) << program(4).ids();
  EXPECT_FALSE(program(1).has("first_iteration_outlier")) << program(1).ids();
}

}  // namespace
}  // namespace ridge
