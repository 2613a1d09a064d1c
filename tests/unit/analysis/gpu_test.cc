// gpu, gaps, launches: what is known of real traces, and that the accounting closes on every one of them.
#include "analysis/gpu/gpu.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/gaps/gaps.h"
#include "analysis/launches/launches.h"
#include "ingest/reader.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

using test::TraceText;

// The path of a trace by its name, here or beside the repository; empty when it is nowhere.
std::string path_of(const std::string& name) {
  for (const std::string& path : test::all_traces()) {
    if (std::filesystem::path(path).filename() == name + ".json.gz") return path;
  }
  return "";
}

void expect_closed(const Gpu& gpu, const Gaps& gaps) {
  for (const GpuDevice& d : gpu.devices) {
    EXPECT_EQ(d.busy_ns + d.idle_ns, d.window_ns);
    EXPECT_EQ(d.compute_ns + d.exposed_comm_ns + d.exposed_copy_ns, d.busy_ns);
    EXPECT_LE(d.exposed_comm_ns, d.comm_ns);
    EXPECT_LE(d.exposed_copy_ns, d.copy_ns);
    std::int64_t causes = 0, sources = 0, longest_first = 0;
    for (const IdleShare& share : d.idle) causes += share.time_ns;
    for (const IdleSource& source : d.sources) sources += source.time_ns;
    std::array<IdleShare, kIdleCauses> in_gaps{};
    for (const GapRow& gap : gaps.rows) {
      if (gap.device != d.device) continue;
      longest_first += gap.duration_ns;
      EXPECT_EQ(gaps.parts_of(gap)[0].cause, gap.cause);
      for (const GapPart& part : gaps.parts_of(gap)) {
        in_gaps[static_cast<std::size_t>(part.cause)].time_ns += part.time_ns;
        ++in_gaps[static_cast<std::size_t>(part.cause)].gaps;
      }
    }
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      EXPECT_EQ(in_gaps[cause].time_ns, d.idle[cause].time_ns) << name_of(static_cast<IdleCause>(cause));
      EXPECT_EQ(in_gaps[cause].gaps, d.idle[cause].gaps) << name_of(static_cast<IdleCause>(cause));
    }
    EXPECT_EQ(causes, d.idle_ns);
    EXPECT_EQ(sources, d.idle_ns);
    EXPECT_EQ(longest_first, d.idle_ns);
  }
}

TEST(Gpu, AccountingClosesOnEveryTrace) {
  std::size_t devices = 0;
  for (const std::string& path : test::all_traces()) {
    SCOPED_TRACE(path);
    const auto trace = test::trace_at(path);
    ASSERT_NE(trace, nullptr);
    const Model model(*trace);
    const Scope scope(model);
    const Gpu gpu = compute_gpu(scope);
    expect_closed(gpu, compute_gaps(scope));
    EXPECT_EQ(gpu.no_device_events, gpu.devices.empty());
    devices += gpu.devices.size();
  }
  EXPECT_GT(devices, 10U);
}

class NarrowScope : public testing::TestWithParam<Arguments> {};

TEST_P(NarrowScope, AccountingCloses) {
  const auto trace = test::trace_at(path_of("gpt_compiled_train"));
  ASSERT_NE(trace, nullptr);
  const Model model(*trace);
  const auto scope = make_scope(model, GetParam());
  ASSERT_TRUE(scope) << scope.error().message;
  const Gpu gpu = compute_gpu(*scope);
  ASSERT_EQ(gpu.devices.size(), 1U);
  EXPECT_LT(gpu.devices[0].window_ns, trace->window->duration_ns());
  expect_closed(gpu, compute_gaps(*scope));
}

INSTANTIATE_TEST_SUITE_P(, NarrowScope, testing::Values(Arguments{{"from", "10"}, {"to", "33.5"}}, Arguments{{"step", "1"}}));

TEST(Scope, RefusesTimesInTheWrongOrder) {
  const auto trace =
      read_trace_bytes(R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}])", "t", {}).value();
  const Model model(*trace);
  const auto wrong = make_scope(model, {{"from", "10"}, {"to", "5"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::usage);
  EXPECT_TRUE(make_scope(model, {{"from", "0.001"}, {"to", "10"}}));
  EXPECT_FALSE(make_scope(model, {{"from", "5"}, {"to", "10"}}));  // behind the end
}

TEST(Gpu, MeasuresSetsOfTime) {
  TraceText text;
  text.kernel("gemm", 0, 100, 1, 7).kernel("gemm", 50, 150, 2, 8);                       // compute [0, 150)
  text.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 120, 300, 3, 9);  // comm [120, 300), 150 exposed
  text.copy("Memcpy HtoD (Pinned -> Device)", 140, 160, 4, 10)
      .copy("Memcpy HtoD (Pinned -> Device)", 290, 330, 5, 10);  // 60, 30 exposed
  text.op("aten::mm", 0, 1'000);
  const auto trace = text.read();
  const Model model(*trace);
  const Gpu gpu = compute_gpu(Scope(model));
  ASSERT_EQ(gpu.devices.size(), 1U);
  const GpuDevice& d = gpu.devices[0];
  EXPECT_EQ(d.window_ns, 1'000);
  EXPECT_EQ(d.compute_ns, 150);
  EXPECT_EQ(d.comm_ns, 180);
  EXPECT_EQ(d.copy_ns, 60);
  EXPECT_EQ(d.exposed_comm_ns, 150);
  EXPECT_EQ(d.exposed_copy_ns, 30);
  EXPECT_EQ(d.busy_ns, 330);
  EXPECT_EQ(d.idle_ns, 670);
}

TEST(Gpu, ATraceWithoutDeviceEventsSaysSo) {
  const auto trace = TraceText().op("aten::mm", 0, 1'000).read();
  const Model model(*trace);
  const Report report = report_gpu(compute_gpu(Scope(model)));
  EXPECT_TRUE(rows_of(report.tables.at(0)).empty());
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].code, "no_device_events");
}

// The first device of a trace that the repository or its neighbour has; skips the test when neither does.
#define GPU_OF(name)                                        \
  const std::string path = path_of(name);                   \
  if (path.empty()) GTEST_SKIP() << name << " is not here"; \
  const auto trace = test::trace_at(path);                  \
  const Model model(*trace);                                \
  const Scope scope(model);                                 \
  const GpuDevice d = compute_gpu(scope).devices.at(0)

// The cause of most idle time between the first work and the last.
IdleCause main_cause(const GpuDevice& d) {
  auto idle = d.idle;
  idle[static_cast<std::size_t>(IdleCause::head_tail)] = {};
  const auto most =
      std::max_element(idle.begin(), idle.end(), [](const IdleShare& a, const IdleShare& b) { return a.time_ns < b.time_ns; });
  return static_cast<IdleCause>(most - idle.begin());
}

TEST(KnownTraces, BusyGemm) {
  GPU_OF("clean_busy_gemm");
  EXPECT_NEAR(100.0 * static_cast<double>(d.busy_ns) / static_cast<double>(d.window_ns), 90.6, 0.05);
  const std::int64_t inside = d.window_ns - d.idle[static_cast<std::size_t>(IdleCause::head_tail)].time_ns;
  EXPECT_NEAR(100.0 * static_cast<double>(d.busy_ns) / static_cast<double>(inside), 99.7, 0.05);
  EXPECT_FALSE(*compute_launches(scope).devices.at(0).launch_bound);
}

TEST(KnownTraces, ItemSync) {
  GPU_OF("fault_item_sync");
  // Its 36 waits take 226.7 us in all, nearly always behind the device's last work.
  const std::int64_t sync_ns = d.idle[static_cast<std::size_t>(IdleCause::sync)].time_ns;
  EXPECT_GT(sync_ns, 200'000);
  EXPECT_LE(sync_ns, 226'700);
  const auto source =
      std::find_if(d.sources.begin(), d.sources.end(), [](const IdleSource& s) { return s.cause == IdleCause::sync; });
  ASSERT_NE(source, d.sources.end());
  EXPECT_EQ(source->op, "aten::item");
  EXPECT_EQ(source->call, "cudaStreamSynchronize");
}

TEST(KnownTraces, NoSync) {
  GPU_OF("clean_no_sync");
  EXPECT_EQ(d.idle[static_cast<std::size_t>(IdleCause::sync)].time_ns, 0);
}

TEST(KnownTraces, PageableCopy) {
  GPU_OF("fault_pageable_copy");
  EXPECT_EQ(main_cause(d), IdleCause::copy_wait);
}

TEST(KnownTraces, PinnedCopy) {
  GPU_OF("clean_pinned_copy");
  EXPECT_EQ(d.idle[static_cast<std::size_t>(IdleCause::copy_wait)].time_ns, 0);
}

TEST(KnownTraces, UncachedAllocator) {
  GPU_OF("fault_uncached_allocator");
  // 16 cudaMalloc of 388.535 us and as many cudaFree of 230.840 us, all of which the device waits for.
  EXPECT_EQ(d.idle[static_cast<std::size_t>(IdleCause::allocator)].time_ns, 388'535 + 230'840);
}

// What the host is held up by costs the device at most the time that it takes.
TEST(KnownTraces, NoCallCostsMoreThanItTakes) {
  std::size_t checked = 0;
  for (const std::string& path : test::own_traces()) {
    const auto trace = test::trace_at(path);
    const Model model(*trace);
    const Scope scope(model);
    std::map<std::string, std::int64_t> took;
    for (const LaunchCall& call : compute_launches(scope).calls) took[call.name] = call.self_ns;
    for (const GpuDevice& device : compute_gpu(scope).devices) {
      std::map<std::string, std::int64_t> idle;
      for (const IdleSource& s : device.sources) {
        const bool stall = s.cause == IdleCause::sync || s.cause == IdleCause::copy_wait || s.cause == IdleCause::allocator;
        if (stall && took.contains(s.call)) idle[s.call] += s.time_ns;
      }
      for (const auto& [call, ns] : idle) EXPECT_LE(ns, took[call]) << path << " " << call << " on " << device.device;
      checked += idle.size();
    }
  }
  EXPECT_GE(checked, 10U);
}

TEST(KnownTraces, RecompileInWindow) {
  GPU_OF("fault_recompile_in_window");
  EXPECT_EQ(main_cause(d), IdleCause::compile);
}

TEST(KnownTraces, TinyKernels) {
  GPU_OF("fault_tiny_kernels");
  EXPECT_TRUE(is_late(main_cause(d)));
}

TEST(KnownTraces, GlooWaitsForTheCollective) {
  GPU_OF("ddp_gloo_rank0");
  EXPECT_EQ(main_cause(d), IdleCause::dependency);
  EXPECT_EQ(d.sources.at(0).call, "gloo:all_reduce");
}

TEST(KnownTraces, DenseNetEagerIsLaunchBound) {
  GPU_OF("densenet121_bs1_eager");
  EXPECT_EQ(main_cause(d), IdleCause::launch);
  const DeviceLaunches launches = compute_launches(scope).devices.at(0);
  EXPECT_TRUE(*launches.launch_bound);
  // It has 2,905 pieces of work in 5 inferences, and a graph would leave little but the work itself.
  EXPECT_EQ(launches.calls, 2905);
  EXPECT_GT(launches.cuda_graph_gain_ns, 9 * d.busy_ns);
}

TEST(KnownTraces, DenseNetCompiledGainsLessFromGraphs) {
  GPU_OF("densenet121_bs1_compiled");
  EXPECT_GT(d.busy_ns, 0);
  const std::string other = path_of("densenet121_bs1_eager");
  if (other.empty()) GTEST_SKIP() << "no such trace here";
  const auto eager = test::trace_at(other);
  const Model eager_model(*eager);
  const std::int64_t eager_gain = compute_launches(Scope(eager_model)).devices.at(0).cuda_graph_gain_ns;
  EXPECT_LT(compute_launches(scope).devices.at(0).cuda_graph_gain_ns, eager_gain);
}

TEST(KnownTraces, DenseNetWithCudaGraphsIsNotLaunchBound) {
  GPU_OF("densenet121_bs1_cudagraph");
  EXPECT_GT(d.busy_ns, 0);
  const DeviceLaunches launches = compute_launches(scope).devices.at(0);
  EXPECT_FALSE(*launches.launch_bound);
  EXPECT_EQ(launches.calls, 10);  // one copy and one graph in each of 5 inferences
  EXPECT_EQ(launches.launched, 2395);
  EXPECT_EQ(launches.from_graphs, 2390);
}

TEST(Launches, LatencyIsClampedAndTheQueueIsCounted) {
  TraceText text;
  text.call("cudaLaunchKernel", 10'000, 12'000, 1).kernel("a", 9'000, 20'000, 1);   // starts before its launch: latency 0
  text.call("cudaLaunchKernel", 13'000, 15'000, 2).kernel("b", 23'000, 30'000, 2);  // waits 10 us
  text.call("cudaLaunchKernel", 15'000, 17'000, 3).kernel("c", 33'000, 40'000, 3);  // waits 18 us
  const auto trace = text.read();
  const Model model(*trace);
  const DeviceLaunches d = compute_launches(Scope(model)).devices.at(0);
  EXPECT_EQ(d.calls, 3);
  EXPECT_EQ(d.latency_p50_ns, 10'000);
  EXPECT_EQ(d.latency_p99_ns, 18'000);
  // From the first launch at 10 us to the last start at 33: one waits in [13, 23), another in [15, 33).
  EXPECT_DOUBLE_EQ(*d.queue_depth_mean, 28'000.0 / 23'000.0);
  EXPECT_DOUBLE_EQ(*d.host_ns_per_launch, 7'000.0 / 3);
  EXPECT_DOUBLE_EQ(*d.device_ns_per_launch, 25'000.0 / 3);
}

TEST(Gaps, NamesWhatEndedThem) {
  TraceText text;
  text.call("cudaLaunchKernel", 0, 2'000, 1).kernel("first", 3'000, 10'000, 1);
  text.frame("train.py(12): step", 20'000, 99'000).op("aten::mm", 30'000, 90'000).call("cudaLaunchKernel", 40'000, 42'000, 2);
  text.kernel("second", 43'000, 99'000, 2);
  const auto trace = text.read();
  const Model model(*trace);
  const Gaps gaps = compute_gaps(Scope(model));
  ASSERT_EQ(gaps.rows.size(), 2U);  // the longest first, then the head
  EXPECT_EQ(gaps.rows[0].start_ns, 10'000);
  EXPECT_EQ(gaps.rows[0].duration_ns, 33'000);
  EXPECT_EQ(gaps.rows[0].cause, IdleCause::launch);
  EXPECT_EQ(gaps.rows[0].op, "aten::mm");
  EXPECT_NE(gaps.rows[0].location.find("train.py"), std::string::npos);
  EXPECT_EQ(gaps.rows[0].next_kernel, "second");
  EXPECT_EQ(gaps.rows[1].cause, IdleCause::head_tail);
}

TEST(Gaps, TellAllCausesOfOne) {
  TraceText text;
  text.call("cudaLaunchKernel", 0, 2'000, 1).kernel("first", 3'000, 10'000, 1);
  text.op("aten::item", 4'000, 30'000).call("cudaStreamSynchronize", 5'000, 30'000);
  text.op("aten::mm", 90'000, 108'000).call("cudaLaunchKernel", 100'000, 108'000, 2).kernel("second", 110'000, 120'000, 2);
  const auto trace = text.read();
  const Model model(*trace);
  const Gaps gaps = compute_gaps(Scope(model));
  const GapRow& gap = gaps.rows.at(0);
  const std::span<const GapPart> parts = gaps.parts_of(gap);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].cause, IdleCause::launch);
  EXPECT_EQ(parts[1].cause, IdleCause::sync);
  EXPECT_EQ(parts[2].cause, IdleCause::recorder);
  EXPECT_EQ(parts[2].time_ns, 1'300 + 3'400);  // since the wait: an op and a launch
  EXPECT_EQ(parts[1].time_ns,
            25'000);  // what the wait took: 20 until it returned, and the 5 by which the host was held up before
  const Report report = report_gaps(gaps);
  EXPECT_EQ(report.tables.at(0).columns.back().name, "causes");
  EXPECT_EQ(std::get<std::string>(rows_of(report.tables.at(0)).at(0).back()), "launch 70 %, sync 25 %, recorder 5 %");
}

}  // namespace
}  // namespace ridge
