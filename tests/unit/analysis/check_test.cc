// What `check` reports, its order and its gate; overlaps against a comparison of all pairs.
#include "analysis/check/check.h"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/model.h"
#include "support/loaded_trace.h"
#include "support/table_rows.h"
#include "support/trace_lines.h"

namespace ridge {
namespace {

using test::read_ok;
using test::trace_of;

Check check_of(std::string_view json) {
  const auto trace = read_ok(json);
  const Model model(*trace);
  return compute_check(Scope(model));
}

std::vector<std::string> problems(const Check& check) {
  std::vector<std::string> found;
  for (const CheckRow& row : check.rows) found.push_back(row.problem);
  return found;
}

constexpr std::string_view kKernel = R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":7})";

TEST(Check, NothingWrong) { EXPECT_EQ(problems(check_of(trace_of(kKernel))), std::vector<std::string>{}); }

TEST(Check, NoDeviceEvents) {
  EXPECT_EQ(problems(check_of(R"({"traceEvents": []})")), std::vector<std::string>{"no_device_events"});
}

TEST(Check, ErrorsFirst) {
  const Check check =
      check_of(trace_of(std::string(kKernel) + R"(, {"ph":"Q"}, {"ph":"X","ts":1,"dur":-1}, {"ph":"X","dur":1}, )" +
                        R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":7})"));
  EXPECT_EQ(problems(check), (std::vector<std::string>{"no_timestamp", "negative_duration", "unknown_phase"}));
  EXPECT_EQ(check.rows[0].offsets.size(), 1U);
  EXPECT_FALSE(report_check(check, false).gate_failed);
  EXPECT_TRUE(report_check(check, true).gate_failed);
}

TEST(Check, WarningsDoNotFailTheGate) {
  EXPECT_FALSE(report_check(check_of(trace_of(std::string(kKernel) + R"(, {"ph":"X","ts":1,"dur":-1})")), true).gate_failed);
}

TEST(Check, PlacesThatAreNotKnownAreNull) {
  const Report report =
      report_check(check_of(trace_of(std::string(kKernel) + R"(, {"ph":"E","ts":1,"pid":1,"tid":1})")), false);
  ASSERT_EQ(rows_of(report.tables[0]).size(), 1U);
  EXPECT_EQ(rows_of(report.tables[0])[0][0], Cell(std::string("unmatched_end")));
  EXPECT_EQ(rows_of(report.tables[0])[0][1], Cell(std::int64_t{1}));
  EXPECT_EQ(rows_of(report.tables[0])[0][2], Cell());
}

TEST(Check, ATruncatedTraceHasLostItsDeviceEvents) {
  const Check whole = check_of(R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]})");
  EXPECT_NE(whole.rows.back().message.find("ProfilerActivity"), std::string::npos);
  const Check cut =
      check_of(R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}, {"ph":"X","ca)");
  EXPECT_EQ(cut.rows.back().problem, "no_device_events");
  EXPECT_EQ(cut.rows.back().message.find("ProfilerActivity"), std::string::npos);
  EXPECT_NE(cut.rows.back().message.find("truncated"), std::string::npos);
}

TEST(Check, WorkBeforeItsLaunch) {
  const auto early = [](int kernel_ts, int other_ts) {
    return check_of(
        trace_of(test::join({test::launch(1, 100, 5, "k", kernel_ts, 2), test::launch(2, 200, 5, "k", other_ts, 2)})));
  };
  EXPECT_EQ(problems(early(95, 210)), std::vector<std::string>{});  // 5 us: noise of the clocks
  const Check found = early(60, 185);
  ASSERT_EQ(problems(found), std::vector<std::string>{"before_launch"});
  EXPECT_EQ(found.rows[0].count, 2);
  EXPECT_EQ(found.rows[0].severity, Severity::warning);
  EXPECT_NE(found.rows[0].message.find("40"), std::string::npos) << found.rows[0].message;  // us
}

// A recording joined with itself; what another launch, stream or time tells apart is no copy, and neither is what takes no
// time.
TEST(Check, WorkThatStandsThereTwice) {
  const std::string once = test::join({test::launch(1, 100, 5, "k", 110, 20), test::launch(2, 200, 5, "k", 210, 20)});
  EXPECT_EQ(problems(check_of(trace_of(once))), std::vector<std::string>{});
  const Check found = check_of(trace_of(once + ", " + once));
  ASSERT_EQ(problems(found), std::vector<std::string>{"recorded_twice"});
  EXPECT_EQ(found.rows[0].count, 2);
  EXPECT_EQ(found.rows[0].severity, Severity::warning);
  EXPECT_FALSE(report_check(found, true).gate_failed);
  const auto kernel = [](int stream, int correlation, int dur) {
    return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": {0}, "ts": 500, "dur": {2}, )"
                       R"("args": {{"device": 0, "stream": {0}, "correlation": {1}}}}})",
                       stream, correlation, dur);
  };
  const auto with = [&](const std::string& other) {
    return problems(check_of(trace_of(once + ", " + kernel(7, 1, 9) + ", " + other)));
  };
  EXPECT_EQ(with(kernel(7, 1, 9)), std::vector<std::string>{"recorded_twice"});
  for (const std::string& other : {kernel(8, 1, 9), kernel(7, 2, 9), kernel(7, 1, 8)})
    EXPECT_EQ(with(other), std::vector<std::string>{}) << other;
  EXPECT_EQ(problems(check_of(trace_of(once + ", " + kernel(7, 1, 0) + ", " + kernel(7, 1, 0)))), std::vector<std::string>{});
}

TEST(Check, ADurationOutOfRangeIsNotSaidToBeMissing) {
  const Check check = check_of(trace_of(std::string(kKernel) + R"(, {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1e18})"));
  ASSERT_EQ(problems(check), std::vector<std::string>{"missing_duration"});
  EXPECT_NE(check.rows[0].message.find("beyond 64-bit nanoseconds"), std::string::npos);
}

// Winograd's algorithm multiplies less than a convolution's definition: what it executes is below the peak.
TEST(Check, ConvolutionsByWinogradAreBelowThePeak) {
  const test::LoadedTrace loaded = test::load_file(*test::path_of("resnet18_eager_shapes"));
  for (const OddMetric& m : compute_check(Scope(*loaded.model)).metrics)
    EXPECT_NE(m.problem, MetricProblem::over_peak_flops) << m.kernel << ": " << m.reasons;
}

TEST(Check, DoesNotJudgeTheAutotuner) {
  const auto judged = [&](std::string_view around) {
    const auto trace =
        read_ok(R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [)" +
                test::join({test::event({.name = around, .ts = 90, .dur = 100}),
                            test::event({.name = "aten::add",
                                         .ts = 95,
                                         .dur = 50,
                                         .args = R"("Input Dims": [[100000000], [100000000], []], )"
                                                 R"("Input type": ["float", "float", "Scalar"])"}),
                            test::launch(1, 100, 5, "void at::native::vectorized_elementwise_kernel<4>", 110, 20)}) +
                "]}");
    const Model model(*trace);
    return compute_check(Scope(model)).metrics.size();
  };
  EXPECT_GT(judged("my_step"), 0U);  // 1.2 GB in 20 us
  EXPECT_EQ(judged("CachingAutotuner.benchmark_all_configs"), 0U);
}

std::size_t overlaps(std::string_view events) { return find_partial_overlaps(*read_ok(trace_of(events))).size(); }

TEST(Check, PartialOverlaps) {
  EXPECT_EQ(overlaps(kKernel), 0);
  // Nested, touching, equal.
  EXPECT_EQ(
      overlaps(
          R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":10}, {"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":2,"dur":3},
    {"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":6}, {"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":6},
    {"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":11,"dur":1})"),
      0);
  EXPECT_EQ(
      overlaps(
          R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":10}, {"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":10})"),
      1);
  // On two tracks it is none.
  EXPECT_EQ(
      overlaps(
          R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":10}, {"ph":"X","cat":"cpu_op","pid":1,"tid":2,"ts":5,"dur":10})"),
      0);
}

// A trace has one exactly when some two slices of a track cross.
TEST(Check, PartialOverlapsAgainstAllPairs) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::string events;
    struct Slice {
      std::size_t start, end;
    };
    std::vector<Slice> slices;
    for (int i = 0; i < 6; ++i) {
      const std::size_t start = random() % 30, dur = 1 + random() % 10;
      slices.push_back({start, start + dur});
      events += (events.empty() ? "" : ",") + std::string(R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":)") +
                std::to_string(start) + ",\"dur\":" + std::to_string(dur) + "}";
    }
    bool crossing = false;
    for (const Slice& a : slices) {
      for (const Slice& b : slices) crossing |= a.start < b.start && b.start < a.end && a.end < b.end;
    }
    ASSERT_EQ(overlaps(events) > 0, crossing) << events;
  }
}

}  // namespace
}  // namespace ridge
