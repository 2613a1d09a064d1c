// diff on traces made by hand, with numbers worked out beside them: rounding, noise, gates, several traces, work from before
// the window.
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "analysis/diff/noise.h"
#include "support/diffed.h"
#include "support/loaded_trace.h"
#include "support/says.h"
#include "support/table_rows.h"

namespace ridge {
namespace {

using diff::Group;
using test::Diffed;
using test::join;

// Steps of two ops each: aten::mm (one kernel) and aten::relu (one kernel), with these times in us.
std::string steps(const std::vector<std::pair<int, int>>& times, bool extra = false) {
  std::string events;
  int ts = 1000, correlation = 1;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto [mm, relu] = times[i];
    const std::string name = "ProfilerStep#" + std::to_string(i);
    events += (i == 0 ? "" : ", ") + join({test::event({.name = name, .ts = ts, .dur = 900, .cat = "user_annotation"}),
                                           test::event({.name = "aten::mm", .ts = ts + 10, .dur = 20}),
                                           test::launch(correlation, ts + 15, 5, "sm90_xmma_gemm_f32", ts + 40, mm),
                                           test::event({.name = "aten::relu", .ts = ts + 40, .dur = 20}),
                                           test::launch(correlation + 1, ts + 45, 5, "relu_kernel", ts + 400, relu)});
    if (extra) {
      events += ", " + join({test::event({.name = "aten::add", .ts = ts + 70, .dur = 20}),
                             test::launch(correlation + 2, ts + 75, 5, "add_kernel", ts + 700, 7)});
    }
    ts += 1000;
    correlation += 3;
  }
  return events;
}

Diffed diff_events(const std::vector<std::string>& all) {
  std::vector<test::LoadedTrace> traces;
  for (const std::string& events : all) traces.push_back(test::load_events(events));
  return Diffed(std::move(traces));
}

Result<Report> run(const Diffed& diffed, const Arguments& arguments) { return run_diff(diffed.scopes, arguments); }

// Each side of a group has an event of its own trace: a launch of the kernel that it goes by.
TEST(DiffByHand, EachSideHasAnEventOfItsOwnTrace) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{100, 10}, {103, 10}}, true)});
  const auto name = [&](std::size_t t, EventId event) {
    const Trace& trace = diffed.scopes[t].trace();
    return std::string(trace.text(trace.events.name(event)));
  };
  ASSERT_EQ(diffed.answer.groups.size(), 3U);
  for (const Group& group : diffed.answer.groups) {
    const std::string kernel = group.name == "aten::mm"     ? "sm90_xmma_gemm_f32"
                               : group.name == "aten::relu" ? "relu_kernel"
                                                            : "add_kernel";
    for (std::size_t t = 0; t < 2; ++t) {
      ASSERT_EQ(group.sides[t].event.has_value(), t == 1 || kernel != "add_kernel") << group.name;
      if (group.sides[t].event) {
        EXPECT_EQ(name(t, *group.sides[t].event), kernel) << t;
      }
    }
  }
  const auto report = run(diffed, {});
  ASSERT_TRUE(report);
  const auto only = std::ranges::find(report->tables, "only_in_b", &Table::name);
  ASSERT_NE(only, report->tables.end());
  ASSERT_EQ(only->size(), 1U);
  EXPECT_EQ(name(1, EventId{static_cast<std::uint32_t>(*only->column("event_b").int64(0))}), "add_kernel");
}

TEST(DiffByHand, DividesByTheIterationsOfEachTrace) {
  // (100 + 103 + 104) / 3 = 102.333 us; one step of 100 us. relu: 10 us in both.
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{100, 10}, {103, 10}, {104, 10}})});
  EXPECT_EQ(diffed.answer.sides[0].iterations, 1);
  EXPECT_EQ(diffed.answer.sides[1].iterations, 3);
  ASSERT_EQ(diffed.answer.groups.size(), 2U);
  const Group& mm = diffed.answer.groups[0];
  EXPECT_EQ(mm.name, "aten::mm");
  EXPECT_EQ(mm.sides[1].time_ns, 102'333);
  EXPECT_EQ(mm.changes[1].delta_ns, 2'333);
  EXPECT_EQ(mm.match, diff::Match::kernel);
  EXPECT_FALSE(mm.changes[1].significant);  // 2.3 %
  EXPECT_EQ(diffed.answer.groups[1].changes[1].delta_ns, 0);
  EXPECT_EQ(diffed.answer.sides[1].gpu_ns, 112'333);
  EXPECT_EQ(diffed.answer.sides[1].wall_ns, 900'000);
  expect_closed(diffed, "by hand");
}

TEST(DiffByHand, ListsWorkThatOneTraceLacks) {
  const Diffed diffed = diff_events({steps({{100, 10}, {100, 10}}), steps({{100, 10}, {100, 10}}, true)});
  const auto added = diffed.groups_where([](const Group& g) { return g.sides[0].positions.empty(); });
  ASSERT_EQ(added.size(), 1U);
  EXPECT_EQ(added[0]->name, "aten::add");
  EXPECT_EQ(added[0]->changes[1].delta_ns, 7'000);
  EXPECT_FALSE(added[0]->changes[1].delta_pct.has_value());  // of nothing, no percentage is known
  EXPECT_TRUE(added[0]->changes[1].significant);
}

TEST(DiffByHand, ComparesEachTraceWithTheFirst) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{110, 10}}), steps({{90, 30}})});
  const auto report = run(diffed, {});
  ASSERT_TRUE(report);
  const Table& table = report->tables.front();
  EXPECT_EQ(table.name, "diff");
  const auto cell = [&](std::size_t row, std::string_view name) {
    const auto column =
        std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.name == name; });
    EXPECT_NE(column, table.columns.end()) << name;
    return rows_of(table)[row][static_cast<std::size_t>(column - table.columns.begin())];
  };
  EXPECT_EQ(cell(0, "group"), Cell("aten::relu"));  // changes by 20 us at most, mm by 10
  EXPECT_EQ(cell(0, "delta_c_ns"), Cell(std::int64_t{20'000}));
  EXPECT_EQ(cell(1, "delta_b_ns"), Cell(std::int64_t{10'000}));
  EXPECT_EQ(cell(1, "delta_c_ns"), Cell(std::int64_t{-10'000}));
  EXPECT_EQ(cell(1, "time_c_ns"), Cell(std::int64_t{90'000}));
}

TEST(DiffByHand, HasTheColumnsOfTheContract) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{110, 10}})});
  const auto report = run(diffed, {});
  ASSERT_TRUE(report);
  constexpr std::string_view kWanted[] = {"group",     "match",     "category", "count_a",   "count_b",
                                          "time_a_ns", "time_b_ns", "delta_ns", "delta_pct", "significant"};
  for (std::size_t i = 0; i < std::size(kWanted); ++i) EXPECT_EQ(report->tables.front().columns[i].name, kWanted[i]);
}

// ---- gates
// ------------------------------------------------------------------------------------------------------------------------

TEST(DiffGates, FailOnThePointEstimate) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{108, 10}})});  // GPU time +7.3 %, mm +8 %
  const auto failed = [&](const Arguments& arguments) { return run(diffed, arguments)->gate_failed; };
  EXPECT_FALSE(failed({}));
  EXPECT_TRUE(failed({{"fail_above", "5%"}}));
  EXPECT_FALSE(failed({{"fail_above", "7.5%"}}));
  EXPECT_TRUE(failed({{"fail_kernel_above", "5"}}));
  EXPECT_FALSE(failed({{"fail_kernel_above", "10%"}}));
  EXPECT_FALSE(failed({{"fail_kernel_above", "5%"}, {"min_ns", "9000"}}));  // it grew by 8 us
  EXPECT_FALSE(failed({{"fail_above", "5%"}, {"significant", "true"}}));    // one step tells nothing of scatter
  EXPECT_FALSE(failed({{"max_new_breaks", "0"}}));
}

TEST(DiffGates, WithSignificantAskForTheInterval) {
  const Diffed steady = diff_events({steps({{100, 10}, {101, 10}, {100, 10}}), steps({{110, 10}, {111, 10}, {110, 10}})});
  EXPECT_TRUE(run(steady, {{"fail_above", "5%"}, {"significant", "true"}})->gate_failed);
  EXPECT_TRUE(run(steady, {{"fail_kernel_above", "5%"}, {"significant", "true"}})->gate_failed);
  const Diffed noisy = diff_events({steps({{100, 10}, {150, 10}, {60, 10}}), steps({{110, 10}, {160, 10}, {70, 10}})});
  EXPECT_TRUE(run(noisy, {{"fail_above", "5%"}})->gate_failed);
  EXPECT_FALSE(run(noisy, {{"fail_above", "5%"}, {"significant", "true"}})->gate_failed);
}

TEST(DiffFilter, NarrowsTablesAndGatesToWhatMatches) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{200, 11}}, true)});
  const auto filtered = [&](const char* filter, const Arguments& arguments = {}) {
    std::vector<Scope> scopes;
    for (const test::LoadedTrace& trace : diffed.traces) scopes.push_back(*make_scope(*trace.model, {{"filter", filter}}));
    return *run_diff(scopes, arguments);
  };
  const auto table = [](const Report& report, std::string_view name) {
    return *std::ranges::find(report.tables, name, &Table::name);
  };
  const Report relu = filtered("relu");
  ASSERT_EQ(rows_of(table(relu, "diff")).size(), 1U);
  EXPECT_EQ(rows_of(table(relu, "diff"))[0][0], Cell("aten::relu"));
  EXPECT_EQ((*table(relu, "diff").total)[5], Cell(std::int64_t{10'000}));       // time_a_ns: of the rows
  EXPECT_EQ((*table(relu, "waterfall").total)[2], Cell(std::int64_t{11'000}));  // time_b_ns
  EXPECT_TRUE(rows_of(table(relu, "only_in_b")).empty());                       // aten::add does not match
  EXPECT_EQ(rows_of(table(relu, "totals"))[0][0], Cell("gpu_time_matched"));
  EXPECT_EQ(rows_of(table(relu, "totals"))[0][1], Cell(std::int64_t{10'000}));
  EXPECT_EQ(rows_of(table(relu, "totals"))[1][1], Cell(std::int64_t{110'000}));  // the whole, told apart
  EXPECT_EQ(relu.diagnostics.at(0).code, "filter_not_used");
  EXPECT_EQ(rows_of(table(filtered("xmma"), "diff")).size(), 1U);  // by the kernel that only the trace names
  EXPECT_EQ(rows_of(table(filtered("add"), "only_in_b")).size(), 1U);
  EXPECT_TRUE(filtered("mm", {{"fail_above", "50%"}}).gate_failed);
  EXPECT_FALSE(filtered("relu", {{"fail_above", "50%"}}).gate_failed);  // 10 %, though all GPU time grew by 98 %
  EXPECT_FALSE(filtered("relu", {{"fail_kernel_above", "50%"}}).gate_failed);
}

TEST(DiffFilter, AGateOnWhatIsNotThereCannotBeJudged) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{100, 10}})});
  std::vector<Scope> scopes;
  for (const test::LoadedTrace& trace : diffed.traces) scopes.push_back(*make_scope(*trace.model, {{"filter", "zzz"}}));
  for (const char* gate : {"fail_above", "fail_kernel_above"}) {
    const auto report = run_diff(scopes, {{gate, "5%"}});
    ASSERT_TRUE(report->gate_failed) << gate;
    EXPECT_TRUE(test::says(report->diagnostics.back().message, {"--filter"}));
  }
}

// Steps of 900 us, one each 1000 us: all figures are of the same part of the trace.
TEST(DiffByTime, CountsWholeIterations) {
  const Diffed diffed = diff_events({steps({{100, 10}, {120, 10}, {140, 10}}), steps({{100, 10}, {130, 10}, {140, 10}})});
  const auto between = [&](const char* from, const char* to) {
    std::vector<Scope> scopes;
    for (const test::LoadedTrace& trace : diffed.traces)
      scopes.push_back(*make_scope(*trace.model, {{"from", from}, {"to", to}}));
    return *run_diff(scopes, {});
  };
  const auto total = [](const Report& report, std::string_view metric) {
    const Table& totals = *std::ranges::find(report.tables, "totals", &Table::name);
    const std::vector<Row> rows = rows_of(totals);
    const auto row = std::ranges::find_if(rows, [&](const Row& r) { return r[0] == Cell(std::string(metric)); });
    return std::pair((*row)[1], (*row)[2]);
  };
  const auto both = [](std::int64_t a, std::int64_t b) { return std::pair(Cell(a), Cell(b)); };
  const Report middle = between("0.5", "2.5");  // the second step, and halves of its neighbours
  EXPECT_EQ(total(middle, "gpu_time"), both(130'000, 140'000));
  EXPECT_EQ(total(middle, "wall_time"), both(900'000, 900'000));
  EXPECT_EQ(total(middle, "gpu_busy"), both(130'000, 140'000));
  EXPECT_TRUE(test::says(middle.diagnostics.back().message, {" a iteration 1", " b iteration 1"}));
  const Report part = between("1", "1.3");  // no whole step: the stretch of time itself
  EXPECT_EQ(total(part, "gpu_time"), both(120'000, 130'000));
  EXPECT_EQ(total(part, "wall_time"), both(300'000, 300'000));
  EXPECT_EQ(total(part, "gpu_busy"), both(120'000, 130'000));
}

TEST(DiffGates, FailWhereATraceHasNothingToJudge) {
  const std::string host_only = test::event({.name = "aten::mm", .ts = 1, .dur = 5});
  const std::string full = steps({{100, 10}});
  for (const auto& [traces, side] :
       {std::pair(std::vector{full, host_only}, "b ("), std::pair(std::vector{host_only, full}, "a ("),
        std::pair(std::vector{full, std::string()}, "b (")}) {
    const Diffed diffed = diff_events(traces);
    for (const char* gate : {"fail_above", "fail_kernel_above"}) {
      const auto report = run(diffed, {{gate, "5%"}, {"significant", "true"}});
      ASSERT_TRUE(report && report->gate_failed) << gate;
      const auto failed = std::find_if(report->diagnostics.begin(), report->diagnostics.end(),
                                       [](const Diagnostic& d) { return d.code == "gate_failed"; });
      ASSERT_NE(failed, report->diagnostics.end());
      EXPECT_TRUE(test::says(failed->message, {side}));
    }
  }
  EXPECT_FALSE(run(diff_events({full, host_only}), {{"max_new_breaks", "0"}})->gate_failed);  // of breaks the host tells
  EXPECT_TRUE(run(diff_events({full, ""}), {{"max_new_breaks", "0"}})->gate_failed);
}

TEST(DiffGates, NameTheGateAndTheRow) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{120, 10}})});
  const auto report = run(diffed, {{"fail_kernel_above", "10%"}});
  ASSERT_TRUE(report && report->gate_failed);
  ASSERT_FALSE(report->diagnostics.empty());
  EXPECT_NE(report->diagnostics[0].message.find("--fail-kernel-above"), std::string::npos);
  EXPECT_NE(report->diagnostics[0].message.find("aten::mm"), std::string::npos);
}

TEST(DiffGates, RefuseWhatIsNoPercentage) {
  const Diffed diffed = diff_events({steps({{100, 10}}), steps({{120, 10}})});
  for (const char* text : {"much", "", "-5%", "5%%", "nan"}) {
    const auto report = run(diffed, {{"fail_above", text}});
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, ErrorCode::usage);
  }
}

// ---- noise
// ------------------------------------------------------------------------------------------------------------------------

TEST(DiffNoise, IntervalIsWelchs) {
  // Means 10 and 13, variances 1 and 4, three observations each: standard error sqrt(1/3 + 4/3) = 1.2910, degrees of freedom
  // (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.94, so t of 2 degrees = 4.303: 3 +- 5.555.
  const auto interval = diff::interval_of_change({3, 10, 1}, {3, 13, 4});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 3 - 5.555, 0.01);
  EXPECT_NEAR(interval->high, 3 + 5.555, 0.01);
  EXPECT_FALSE(interval->excludes_zero());
  EXPECT_FALSE(diff::interval_of_change({1, 10, 0}, {3, 13, 4}).has_value());
}

TEST(DiffNoise, ChangedNeedsBothParts) {
  const diff::Thresholds defaults;
  EXPECT_TRUE(diff::is_changed(10'000, 12'000, std::nullopt, defaults));
  EXPECT_FALSE(diff::is_changed(10'000, 10'900, std::nullopt, defaults));    // 9 %, but 0.9 us
  EXPECT_FALSE(diff::is_changed(100'000, 104'000, std::nullopt, defaults));  // 4 us, but 4 %
  EXPECT_FALSE(diff::is_changed(10'000, 12'000, diff::Interval95{-10, 4000}, defaults));
  EXPECT_TRUE(diff::is_changed(10'000, 12'000, diff::Interval95{10, 4000}, defaults));
}

// ---- work launched before the window
// ------------------------------------------------------------------------------------------------

TEST(DiffByHand, FoldsWorkFromBeforeTheWindowIntoTheStepItRepeats) {
  // The relu of the step before runs first, and its launch was not recorded: 14 us beside the recorded 10 us, a mean of 12 us.
  const std::string orphan = test::event({.name = "relu_kernel",
                                          .ts = 1001,
                                          .dur = 14,
                                          .cat = "kernel",
                                          .args = "\"correlation\": 99, \"device\": 0, \"stream\": 7",
                                          .tid = 7});
  const Diffed diffed = diff_events({steps({{100, 12}}), steps({{100, 10}}) + ", " + orphan});
  ASSERT_EQ(diffed.answer.groups.size(), 2U);
  for (const Group& group : diffed.answer.groups) {
    EXPECT_EQ(group.changes[1].delta_ns, 0) << group.name;
    EXPECT_TRUE(group.match.has_value()) << group.name;
  }
  EXPECT_EQ(diffed.answer.sides[1].folded_ns, 14'000);
  // The step begins when the device has done that, at 1015, and ends at 1900: 885 us, in which it computes for 100 + 10 us.
  EXPECT_EQ(diffed.answer.sides[1].wall_ns, 885'000);
  EXPECT_EQ(diffed.answer.sides[1].busy_ns, 110'000);
  EXPECT_EQ(diffed.answer.sides[1].idle_ns, 775'000);
  expect_closed(diffed, "work from before the window");
}

TEST(DiffByHand, BusyTimeOfSeveralDevicesIsTheirMean) {
  const auto step = [](const std::string& kernels) {
    return test::event({.name = "ProfilerStep#0", .ts = 1000, .dur = 900, .cat = "user_annotation"}) + ", " + kernels;
  };
  const auto kernel = [](int device, int ts, int dur) {
    const std::string n = std::to_string(device);
    return test::event({.name = "k" + n,
                        .ts = ts,
                        .dur = dur,
                        .cat = "kernel",
                        .args = "\"device\": " + n + ", \"stream\": 7",
                        .tid = 7 + device});
  };
  // 300 us and 100 us of 900, with 2 x 50 us at once on the second.
  const std::string events = step(join({kernel(0, 1100, 300), kernel(1, 1200, 50), kernel(1, 1200, 50), kernel(1, 1500, 50)}));
  const Diffed diffed = diff_events({events, events});
  EXPECT_EQ(diffed.answer.sides[0].gpu_ns, 450'000);
  EXPECT_EQ(diffed.answer.sides[0].wall_ns, 900'000);
  EXPECT_EQ(diffed.answer.sides[0].busy_ns, 200'000);
  EXPECT_EQ(diffed.answer.sides[0].idle_ns, 700'000);
}

TEST(DiffByHand, WithoutADeviceItsTimesAreUnknown) {
  const std::string host = test::event({.name = "aten::mm", .ts = 1000, .dur = 20});
  const Diffed diffed = diff_events({host, steps({{100, 10}})});
  const auto report = run(diffed, {});
  ASSERT_TRUE(report.has_value());
  for (const Table& table : report->tables) {
    if (table.name != "totals" && table.name != "idle") continue;
    for (const Row& row : rows_of(table)) {
      if (std::get<std::string>(row[0]).ends_with("wall_time")) continue;
      EXPECT_TRUE(std::holds_alternative<std::monostate>(row[1])) << std::get<std::string>(row[0]);
      EXPECT_TRUE(std::holds_alternative<std::int64_t>(row[2])) << std::get<std::string>(row[0]);
      EXPECT_TRUE(std::holds_alternative<std::monostate>(row[3])) << std::get<std::string>(row[0]);
    }
  }
}

TEST(DiffByHand, TellsOneOfEqualNeighbours) {
  // Three equal calls in a row against two.
  const auto run_of = [](int calls) {
    std::string events = test::event({.name = "ProfilerStep#0", .ts = 1000, .dur = 900, .cat = "user_annotation"});
    for (int i = 0; i < calls; ++i) {
      events += ", " + join({test::event({.name = "aten::linear", .ts = 1010 + 30 * i, .dur = 20}),
                             test::launch(i + 1, 1015 + 30 * i, 5, "sm90_xmma_gemm_f32", 1200 + 50 * i, 20 + i)});
    }
    return events;
  };
  const Diffed diffed = diff_events({run_of(3), run_of(2)});
  ASSERT_EQ(diffed.answer.groups.size(), 1U);
  EXPECT_EQ(diffed.answer.groups[0].equal_calls, 3);
  EXPECT_EQ(diffed.answer.groups[0].changes[1].delta_ns, -22'000);  // 20 + 21 + 22 against 20 + 21
  EXPECT_TRUE(diffed.answer.groups[0].changes[1].significant);
}

// Batches of other lengths: the linear of each step is one call of the program, whatever its shape; so is that of another
// recording.
TEST(DiffByHand, AStepOnOtherShapesIsTheSameStep) {
  const auto steps_of = [](std::initializer_list<int> lengths) {
    std::string events;
    int ts = 1000, correlation = 1;
    for (const int length : lengths) {
      const std::string dims = "\"Input Dims\": [[" + std::to_string(length) + ", 64], [64, 64]]";
      const std::string name = "ProfilerStep#" + std::to_string(correlation);
      events +=
          (events.empty() ? "" : ", ") + join({test::event({.name = name, .ts = ts, .dur = 900, .cat = "user_annotation"}),
                                               test::event({.name = "aten::linear", .ts = ts + 10, .dur = 20, .args = dims}),
                                               test::launch(correlation, ts + 15, 5, "sm90_xmma_gemm_f32", ts + 40, length),
                                               test::event({.name = "aten::relu", .ts = ts + 40, .dur = 20, .args = dims}),
                                               test::launch(correlation + 1, ts + 45, 5, "relu_kernel", ts + 400, 10)});
      ts += 1000;
      correlation += 2;
    }
    return events;
  };
  const Diffed diffed = diff_events({steps_of({100, 110, 120}), steps_of({115, 105, 110})});
  ASSERT_EQ(diffed.answer.groups.size(), 2U);
  EXPECT_EQ(diffed.answer.groups[0].name, "aten::linear");
  EXPECT_EQ(diffed.answer.groups[0].sides[0].time_ns, 110'000);
  EXPECT_EQ(diffed.answer.groups[0].sides[0].calls, 1);
  EXPECT_TRUE(diffed.answer.groups[0].match.has_value());
}

TEST(DiffByHand, SaysSoWhenThereIsNoDeviceWork) {
  const Diffed diffed =
      diff_events({test::event({.name = "aten::mm", .ts = 1, .dur = 2}), test::event({.name = "aten::mm", .ts = 1, .dur = 2})});
  const auto report = run(diffed, {{"fail_above", "5%"}});
  ASSERT_TRUE(report);
  EXPECT_TRUE(rows_of(report->tables.front()).empty());
  EXPECT_TRUE(report->gate_failed);  // it cannot be judged
  EXPECT_EQ(report->diagnostics.front().code, "no_device_events");
}

}  // namespace
}  // namespace ridge
