// Traces whose durations add up to more than int64 holds: every analysis answers, no total wraps around, sums stop at the
// largest value.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <limits>

#include "analysis/catalog.h"
#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "base/saturating.h"
#include "support/diffed.h"
#include "support/loaded_trace.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kLeast = std::numeric_limits<std::int64_t>::min();

TEST(SaturatingAdd, StopsAtTheEnds) {
  std::int64_t sum = kMost - 1;
  saturating_add(&sum, 1);
  EXPECT_EQ(sum, kMost);
  saturating_add(&sum, 1);
  EXPECT_EQ(sum, kMost);
  saturating_add(&sum, -2);
  EXPECT_EQ(sum, kMost - 2);
  sum = kLeast + 1;
  saturating_add(&sum, -5);
  EXPECT_EQ(sum, kLeast);
}

// 2^60 ns in the microseconds of a trace; 16 of these are more than int64 holds.
constexpr std::int64_t kLongUs = (std::int64_t{1} << 60) / 1000;

// Twenty of each sort of slice, all as long as a slice may be and all at once: ops that nest, compiled regions, copies, kernels
// of two devices.
std::string huge_slices(std::string_view step = "ProfilerStep#0") {
  std::string events;
  const auto add = [&](std::string_view cat, std::string_view name, int pid, int tid, int ts, std::string_view args) {
    events +=
        fmt::format(R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
                    events.empty() ? "" : ", ", cat, name, pid, tid, ts, kLongUs - 2 * ts, args);
  };
  add("user_annotation", step, 1, 1, 0, "");
  for (int i = 0; i < 20; ++i) {
    add("cpu_op", "Torch-Compiled Region: " + std::to_string(i % 3) + "/0", 1, 1, 10 * i + 1, "");
    add("cpu_op", "aten::mm", 1, 1, 10 * i + 2, R"("Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"])");
    add("cuda_runtime", "cudaLaunchKernel", 1, 1, 10 * i + 3, fmt::format(R"("correlation": {})", 3 * i + 1));
    add("kernel", "gemm", 0, 7 + i, 300 + i,
        fmt::format(R"("correlation": {}, "device": {}, "stream": {})", 3 * i + 1, i % 2, 7 + i));
    add("cuda_runtime", "cudaMemcpyAsync", 1, 1, 10 * i + 4, fmt::format(R"("correlation": {})", 3 * i + 2));
    add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 40 + i, 300 + i,
        fmt::format(R"("correlation": {}, "device": 0, "stream": {}, "bytes": 9000000000000000000)", 3 * i + 2, 40 + i));
    add("kernel", "ncclDevKernel_AllReduce", 0, 70 + i, 300 + i,
        fmt::format(R"("correlation": {}, "device": 0, "stream": {})", 9000 + i, 70 + i));
  }
  return events;
}

// Cells of durations that are below zero.
std::string negative_cells(const Report& report) {
  std::string found;
  for (const Table& table : report.tables) {
    for (const Row& row : rows_of(table)) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string& name = table.columns[c].name;
        if (table.columns[c].unit != Unit::ns || name.find("delta") != std::string::npos ||
            name.find("start") != std::string::npos)
          continue;
        if (const auto* value = std::get_if<std::int64_t>(&row[c]); value != nullptr && *value < 0)
          found += table.name + "." + name + " ";
      }
    }
  }
  return found;
}

TEST(HostileTimes, EveryAnalysisAnswers) {
  const test::LoadedTrace t = test::load_events(huge_slices());
  const Scope scope(*t.model);
  for (const AnalysisRow& row : catalog()) {
    if (row.run == nullptr || !row.info.operand.empty()) continue;
    const auto report = row.run(scope, {});
    ASSERT_TRUE(report) << row.info.name;
    EXPECT_EQ(negative_cells(*report), "") << row.info.name;
  }
}

TEST(HostileTimes, SumsStopAtTheLargestValue) {
  const test::LoadedTrace t = test::load_events(huge_slices());
  const Scope scope(*t.model);
  EXPECT_EQ(compute_kernels(scope).time_ns, kMost);
  for (const auto by : {KernelsBy::op, KernelsBy::shape, KernelsBy::stream})
    EXPECT_EQ(compute_kernels(scope, by).time_ns, kMost);
  for (const OpRow& row : compute_ops(scope).rows) {
    if (row.op == "aten::mm") {
      EXPECT_EQ(row.cpu_total_ns, kMost);
      EXPECT_EQ(row.device_total_ns, kMost);
    }
  }
}

TEST(HostileTimes, ATraceAgainstItselfIsUnchanged) {
  std::vector<test::LoadedTrace> traces;
  traces.push_back(test::load_events(huge_slices()));
  traces.push_back(test::load_events(huge_slices()));
  const test::Diffed diffed(std::move(traces));
  for (const diff::Group& group : diffed.answer.groups) EXPECT_EQ(group.changes[1].delta_ns, 0) << group.name;
  EXPECT_EQ(diffed.answer.sides[0].gpu_ns, diffed.answer.sides[1].gpu_ns);
  EXPECT_GT(diffed.answer.sides[0].gpu_ns, 0);
}

}  // namespace
}  // namespace ridge
