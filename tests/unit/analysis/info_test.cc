// Counts and times by category, and how a scope narrows them.
#include "analysis/info/info.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "model/model.h"
#include "support/table_rows.h"
#include "support/trace_lines.h"

namespace ridge {
namespace {

using test::read_ok;
using test::trace_of;

// A trace with all that its Info points to.
struct Known {
  explicit Known(std::string_view json, const Arguments& arguments = {})
      : trace(read_ok(json)), model(*trace), info(compute_info(*make_scope(model, arguments))) {}

  const KindCount* kind(std::string_view ph, std::string_view cat) const {
    for (const KindCount& count : info.kinds) {
      const Kind& k = trace->forms.kinds()[count.kind.value];
      if (trace->text(k.ph) == ph && trace->text(k.cat) == cat) return &count;
    }
    return nullptr;
  }

  std::unique_ptr<Trace> trace;
  Model model;
  Info info;
};

constexpr std::string_view kEvents = R"(
  {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":10,"dur":5},
  {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":12,"dur":2},
  {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":2,"ts":11},
  {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":"stream 7","ts":20,"dur":7},
  {"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":1,"tid":1,"ts":10},
  {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}})";

TEST(Info, CountsKindsAndTheirTime) {
  const Known known(trace_of(kEvents));
  ASSERT_NE(known.kind("X", "cpu_op"), nullptr);
  EXPECT_EQ(known.kind("X", "cpu_op")->events, 3);
  EXPECT_EQ(known.kind("X", "cpu_op")->time_ns, 7000);
  EXPECT_EQ(known.kind("X", "kernel")->time_ns, 7000);
  EXPECT_EQ(known.kind("s", "ac2g")->events, 1);
  EXPECT_EQ(known.kind("s", "ac2g")->time_ns, std::nullopt);
  EXPECT_EQ(known.kind("M", "")->events, 1);
  std::int64_t sum = 0;
  for (const KindCount& count : known.info.kinds) sum += count.events;
  EXPECT_EQ(sum, static_cast<std::int64_t>(known.trace->elements));
}

TEST(Info, CountsTracksWithoutMetadata) {
  const Known known(trace_of(kEvents));
  ASSERT_EQ(known.info.tracks.size(), 3U);
  const TrackCount& busiest = known.info.tracks[0];
  EXPECT_EQ(busiest.events, 3);
  EXPECT_EQ(busiest.first_ns, 10'000);
  EXPECT_EQ(busiest.last_ns, 15'000);
}

TEST(Info, ProducerAndOptions) {
  const Known kineto(trace_of(kEvents));
  EXPECT_EQ(kineto.info.producer, "kineto");
  EXPECT_EQ(kineto.info.record_shapes, false);  // ops without shapes show that none were recorded
  EXPECT_EQ(kineto.info.with_stack, false);
  const Known said(R"({"record_shapes": 1, "traceEvents": [)" + std::string(kEvents) + "]}");
  EXPECT_EQ(said.info.record_shapes, true);
  const Known shown(trace_of(
      R"({"ph":"X","cat":"cpu_op","ts":1,"dur":1,"args":{"Input Dims":[[1]]}}, {"ph":"X","cat":"python_function","ts":1,"dur":1})"));
  EXPECT_EQ(shown.info.record_shapes, true);
  EXPECT_EQ(shown.info.with_stack, true);
  const Known other(trace_of(R"({"ph":"X","cat":"blink","ts":1,"dur":1})"));
  EXPECT_EQ(other.info.producer, "chrome trace");
  EXPECT_EQ(other.info.record_shapes, std::nullopt);
}

// The host is done with a step after 10 us each; the device needs 100 for it.
std::string three_steps() {
  std::string events;
  for (int i = 0; i < 3; ++i) {
    const std::string id = std::to_string(i + 1);
    events += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + id +
              R"(","pid":1,"tid":1,"ts":)" + std::to_string(10 * i) + R"(,"dur":10},)" +
              R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" + std::to_string(10 * i + 1) +
              R"(,"dur":2,"args":{"correlation":)" + id + R"(}},)" +
              R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(5 + 100 * i) +
              R"(,"dur":100,"args":{"device":0,"stream":7,"correlation":)" + id + "}}";
  }
  return events;
}

TEST(Info, AnIterationTakesWhatTheDeviceTakes) {
  const Known known(trace_of(three_steps()));
  const Report report = report_info(known.info);
  const auto table = std::ranges::find(report.tables, "iterations", &Table::name);
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(table->columns, name, &Column::name) - table->columns.begin());
  };
  ASSERT_EQ(rows_of(*table).size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows_of(*table)[i][column("host_ns")], Cell(std::int64_t{10'000}));
    EXPECT_EQ(rows_of(*table)[i][column("duration_ns")], Cell(known.model.iterations().list[i].span.duration_ns()));
  }
  EXPECT_EQ(rows_of(*table)[1][column("duration_ns")], Cell(std::int64_t{100'000}));
  EXPECT_EQ(rows_of(*table)[1][column("start_ns")], Cell(std::int64_t{105'000}));
}

TEST(Info, IsNarrowedByTheScope) {
  const std::string other =
      R"(,{"ph":"X","cat":"kernel","name":"k","pid":1000,"tid":7,"ts":15,"dur":1,"args":{"device":1,"stream":7,"correlation":9}},
          {"ph":"X","cat":"gpu_user_annotation","name":"a","pid":1000,"tid":7,"ts":15,"dur":1})";
  const std::string text = R"({"deviceProperties": [{"id": 0, "name": "x"}, {"id": 1, "name": "y"}], "traceEvents": [)" +
                           three_steps() + other + "]}";
  const Known whole(text), step(text, {{"step", "2"}}), device(text, {{"gpu", "0"}}), part(text, {{"from", "0.01"}});
  EXPECT_EQ(whole.kind("X", "kernel")->events, 4);
  EXPECT_EQ(whole.info.in_scope.size(), 3U);
  EXPECT_EQ(step.kind("X", "kernel")->events, 2);  // its own, which runs late, and the one that nobody launched
  EXPECT_EQ(step.kind("X", "cuda_runtime")->events, 1);
  EXPECT_EQ(step.info.in_scope, std::vector<std::size_t>{1});
  const Report report = report_info(step.info);
  EXPECT_EQ(rows_of(*std::ranges::find(report.tables, "iterations", &Table::name)).size(), 1U);
  EXPECT_EQ(device.kind("X", "kernel")->events, 3);
  EXPECT_EQ(device.kind("X", "gpu_user_annotation"), nullptr);
  EXPECT_EQ(device.kind("X", "cuda_runtime")->events, 3);
  ASSERT_EQ(device.info.devices.size(), 1U);
  EXPECT_EQ(device.info.devices[0].name, "x");
  EXPECT_EQ(part.kind("X", "cuda_runtime")->events, 2);
  ASSERT_EQ(part.info.tracks.size(), 3U);
  EXPECT_EQ(part.info.tracks[0].events, 4);  // two steps with a launch each
}

TEST(Info, AFilterNarrowsTheEventsThatAreCounted) {
  const std::string text = trace_of(three_steps());
  const Known known(text, {{"filter", "Step#[12]"}});
  ASSERT_EQ(known.info.kinds.size(), 1U);
  EXPECT_EQ(known.kind("X", "user_annotation")->events, 2);
  ASSERT_EQ(known.info.tracks.size(), 1U);
  EXPECT_EQ(known.info.in_scope.size(), 3U);
  const auto said = [&](const Arguments& arguments) {
    std::vector<std::string> codes;
    const Report report = *run_info(*make_scope(known.model, arguments), {});
    for (const Diagnostic& d : report.diagnostics) codes.push_back(d.code);
    return codes;
  };
  EXPECT_TRUE(said({}).empty());
  EXPECT_EQ(said({{"filter", "k"}}), std::vector<std::string>{"filter_not_used"});
  EXPECT_EQ(said({{"filter", "zzz"}}), std::vector<std::string>{"filter_matches_nothing"});
}

TEST(Info, EmptyTrace) {
  const Known known(R"({"traceEvents": []})");
  EXPECT_TRUE(known.info.kinds.empty());
  EXPECT_TRUE(known.info.tracks.empty());
  EXPECT_EQ(known.info.producer, "");
  EXPECT_EQ(report_info(known.info).tables[0].name, "trace");
}

TEST(Info, SumsOfTheLongestDurationsDoNotOverflow) {
  std::string events;
  for (int i = 0; i < 8; ++i)
    events += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"cpu_op","ts":1,"dur":2300000000000000})";
  const Known known(trace_of(events));
  EXPECT_GT(known.kind("X", "cpu_op")->time_ns, 2'300'000'000'000'000'000);
}

TEST(Info, ReportHoldsWhatWasRead) {
  const Known known(R"({"distributedInfo": {"rank": 2, "world_size": 4}, "traceEvents": [)" + std::string(kEvents) +
                    ", {\"name\": 1}]}");
  const Report report = report_info(known.info);
  const Table& table = report.tables[0];
  const auto value = [&](std::string_view column) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == column) return rows_of(table).at(0).at(i);
    }
    ADD_FAILURE() << "no column " << column;
    return Cell();
  };
  EXPECT_EQ(value("events"), Cell(std::int64_t{7}));
  EXPECT_EQ(value("dropped_events"), Cell(std::int64_t{1}));
  EXPECT_EQ(value("window_ns"), Cell(std::int64_t{17'000}));
  EXPECT_EQ(value("rank"), Cell(std::int64_t{2}));
  EXPECT_EQ(value("world_size"), Cell(std::int64_t{4}));
  EXPECT_EQ(value("with_flops"), Cell());
  EXPECT_EQ(value("device_events"), Cell(std::int64_t{1}));
}

// A kernel whose time was never written makes no iteration, and its track starts where the others do.
TEST(Info, StraysAtTimeZeroAreLeftOut) {
  const auto kernel = [](std::string_view ts) {
    return R"(, {"ph":"X","cat":"kernel","name":"n","pid":0,"tid":7,"ts":)" + std::string(ts) +
           R"(,"dur":5,"args":{"device":0,"stream":7}})";
  };
  const Known known(trace_of(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1700000000000000,"dur":50})" +
                             kernel("0") + kernel("1700000000000001") + kernel("1700000000000011") +
                             kernel("1700000000000021")));
  EXPECT_EQ(known.info.iterations->list.size(), 3U);
  ASSERT_EQ(known.model.timeline().devices.size(), 1U);
  EXPECT_EQ(known.model.timeline().devices[0].work.size(), 3U);
  for (const TrackCount& track : known.info.tracks) EXPECT_GE(track.first_ns, known.trace->window->start_ns);
}

}  // namespace
}  // namespace ridge
