// What diff says that an iteration takes, against what other analyses say of the same trace.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/categories/categories.h"
#include "analysis/summary/summary.h"
#include "facts/scoped_work.h"
#include "support/diffed.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

using test::Diffed;
using test::TraceText;

constexpr std::int64_t kUs = 1'000;

Diffed with_itself(const TraceText& text) {
  std::vector<test::LoadedTrace> traces;
  traces.emplace_back(text.read());
  traces.emplace_back(text.read());
  return Diffed(std::move(traces));
}

const Table& table(const Report& report, std::string_view name) {
  return *std::ranges::find(report.tables, name, &Table::name);
}

std::size_t column(const Table& table, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, name, &Column::name) - table.columns.begin());
}

// The work that the iterations launched, without what was queued before the first of them.
std::int64_t work_of_all_steps_ns(const Model& model) {
  const std::vector<Iteration>& list = model.iterations().list;
  const std::string steps = std::to_string(list.front().number) + "-" + std::to_string(list.back().number);
  const auto scope = make_scope(model, {{"step", steps}});
  EXPECT_TRUE(scope.has_value()) << steps;
  return scope ? compute_categories(*scope).time_ns : 0;
}

// The work that was launched in the window, by a step or outside of all (a compiler that tries kernels): it belongs to the step
// before it.
std::int64_t launched_work_ns(const Model& model) {
  const auto scope = make_scope(model, {});
  std::int64_t time_ns = 0;
  for_each_work(*scope, [&](const Device&, const WorkRow& work) {
    if (!model.links().is_inherited(work.row)) time_ns += duration_ns(work);
  });
  return time_ns;
}

TEST(DiffFigures, GpuTimeIsTheWorkThatTheStepsLaunched) {
  for (const std::string& path : test::own_traces()) {
    const Diffed diffed = test::diff_files(path, path);
    const diff::SideTotals& side = diffed.answer.sides[0];
    const Model& model = *diffed.traces[0].model;
    if (!side.has_device || model.iterations().list.empty()) continue;
    const auto iterations = static_cast<double>(side.iterations);
    const double steps = static_cast<double>(work_of_all_steps_ns(model)) / iterations;
    const double launched = static_cast<double>(launched_work_ns(model)) / iterations;
    const auto told = static_cast<double>(side.gpu_ns);
    // Between the two, and where nothing but the steps launched work, within 1 % of theirs.
    EXPECT_GE(told, steps * 0.99) << path;
    EXPECT_LE(told, std::max(steps, launched) * 1.01) << path;
  }
}

// Three kernels a step, and a host that was two steps and one kernel ahead when the recording began.
TEST(DiffFigures, WorkOfSeveralStepsQueuedBeforeTheRecordingCountsOnce) {
  TraceText text;
  const char* const names[] = {"a", "b", "c"};
  std::int64_t at = 100 * kUs;
  const auto work = [&](int kernel, int correlation) {
    text.kernel(names[kernel], at, at + (kernel + 1) * 10 * kUs, correlation);
    at += (kernel + 1) * 10 * kUs;
  };
  work(2, 901);
  for (int i = 0; i < 6; ++i) work(i % 3, 910 + i);
  for (int step = 0; step < 4; ++step) {
    const std::int64_t start = step * 20 * kUs;
    text.annotation("ProfilerStep#" + std::to_string(step), start, start + 20 * kUs);
    for (int k = 0; k < 3; ++k) {
      const int correlation = 1 + step * 3 + k;
      text.call("cudaLaunchKernel", start + (1 + k) * kUs, start + (1 + k) * kUs + 500, correlation);
      work(k, correlation);
    }
  }
  const Diffed diffed = with_itself(text);
  const diff::SideTotals& side = diffed.answer.sides[0];
  EXPECT_EQ(side.iterations, 4);
  EXPECT_EQ(side.gpu_ns, 60 * kUs);
  EXPECT_EQ(side.folded_ns, 150 * kUs);
  EXPECT_DOUBLE_EQ(side.work, 3);
  EXPECT_EQ(diffed.answer.groups.size(), 3U);
}

// Steps of 10, 20 and 60 us: a mean of 30 and a median of 20.
TEST(DiffFigures, TheMedianStandsBesideTheMean) {
  TraceText text;
  std::int64_t start = 0;
  for (const std::int64_t length : {10 * kUs, 20 * kUs, 60 * kUs}) {
    text.annotation("ProfilerStep#" + std::to_string(length), start, start + length);
    text.call("cudaLaunchKernel", start, start + 500, static_cast<int>(length))
        .kernel("k", start + 1000, start + 2000, static_cast<int>(length));
    start += length;
  }
  const Report report = report_diff(with_itself(text).answer);
  const Table& totals = table(report, "totals");
  const auto time_a = [&](const std::string& metric) {
    for (const Row& row : rows_of(totals)) {
      if (row[0] == Cell(metric)) return row[column(totals, "time_a_ns")];
    }
    return Cell(std::string("no such metric"));
  };
  EXPECT_EQ(time_a("wall_time"), Cell(30 * kUs));
  EXPECT_EQ(time_a("median_wall_time"), Cell(20 * kUs));
  const Table& traces = table(report, "traces");
  EXPECT_EQ(rows_of(traces)[0][column(traces, "median_wall_ns")], Cell(20 * kUs));
}

TEST(DiffFigures, MeanAndMedianAreThoseOfTheSummary) {
  for (const std::string& path : test::own_traces()) {
    const Diffed diffed = test::diff_files(path, path);
    const IterationTime time = compute_summary(diffed.scopes[0]).time;
    EXPECT_EQ(diffed.answer.sides[0].wall_ns, time.mean_ns()) << path;
    EXPECT_EQ(diffed.answer.sides[0].median_wall_ns, time.median_ns) << path;
  }
}

}  // namespace
}  // namespace ridge
