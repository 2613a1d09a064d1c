// Captures through the engine: what the host and the device did is told as without one, also where the trace's own events and a
// capture's have the same names; costs of replays are those of the runs that they repeat.
#include <ridge/engine.h>
#include <ridge/render.h>
#include <ridge/timeline.h>

#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include "support/files.h"

namespace ridge {
namespace {

const std::string kRoot = test::source_dir();
const std::string kWarmUp = kRoot + "/tests/fixtures/cudagraph_with_warmup.json.gz";

Engine open_with(const std::string& trace, const std::string& capture) {
  auto engine = Engine::open({trace}, {.captures = {capture}});
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  return std::move(*engine);
}

std::string tables_of(const Engine& engine, std::string_view analysis, const Arguments& arguments = {}) {
  auto report = engine.run(analysis, arguments);
  if (!report) return report.error().message;
  std::erase_if(report->diagnostics, [](const Diagnostic& d) { return d.code.starts_with("capture_"); });
  return report_text(*report, **find_format("json")).value();
}

std::string message_of(const Engine& engine, std::string_view code) {
  const auto report = engine.run("kernels", {});
  for (const Diagnostic& d : report->diagnostics) {
    if (d.code == code) return d.message;
  }
  return "";
}

double number(const Report& report, std::string_view table_name, std::string_view column_name) {
  for (const Table& table : report.tables) {
    if (table.name != table_name) continue;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].name != column_name || !table.total) continue;
      const Cell& cell = (*table.total)[c];
      if (const auto* real = std::get_if<double>(&cell)) return *real;
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    }
  }
  return -1;
}

// The trace as its own capture: every op of it is there twice, once borrowed. 3 replays of 16 nodes.
TEST(Captures, NothingThatTheTraceRecordedChanges) {
  const Engine with = open_with(kWarmUp, kWarmUp), without = open_with(kWarmUp, "-");
  EXPECT_NE(message_of(with, "capture_matched").find("48 of 48"), std::string::npos) << message_of(with, "capture_matched");
  EXPECT_EQ(message_of(without, "capture_matched"), "");
  const std::set<std::string_view> from_ops = {"kernels", "ops", "graphs", "kernel"};  // they say where an op is from
  for (const AnalysisInfo& info : analyses()) {
    if (!info.needs_trace || info.fewest_traces > 1 || from_ops.contains(info.name)) continue;
    EXPECT_EQ(tables_of(with, info.name), tables_of(without, info.name)) << info.name;
  }
  for (const char* by : {"op", "shape", "module", "annotation", "stream"}) {
    const auto a = with.run("kernels", {{"by", by}}), b = without.run("kernels", {{"by", by}});
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->tables.front().size(), b->tables.front().size()) << by;
    EXPECT_EQ(number(*a, "kernels", "flops"), number(*b, "kernels", "flops")) << by;
  }
}

TEST(Captures, ASliceOfAReplayNamesTheOpOfTheCapture) {
  const Engine engine = open_with(kWarmUp, kWarmUp);
  const auto timeline = engine.timeline(0, {});
  ASSERT_TRUE(timeline.has_value());
  std::size_t named = 0;
  const auto found = (*timeline)->search("gelu", 1000);
  ASSERT_TRUE(found.has_value());
  for (const SliceRef& hit : found->results) {
    const auto slice = (*timeline)->slice(hit.id);
    if (slice && slice->op_from == "capture_file") {
      ++named;
      EXPECT_FALSE(slice->op.has_value());
      EXPECT_EQ(slice->op_name, "aten::gelu");
      EXPECT_TRUE(slice->cost && slice->cost->bytes_read);
    }
  }
  EXPECT_EQ(named, 12U);  // four layers, three replays
}

TEST(Captures, MoreThanTracesAreRefused) {
  const auto engine = Engine::open({kWarmUp}, {.captures = {"-", kWarmUp}});
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().code, ErrorCode::usage);
  EXPECT_FALSE(Engine::open({kWarmUp}, {.captures = {kRoot + "/absent.json"}}).has_value());
}

// Recorded on an H200: an encoder launched op by op, and replayed as a graph. Of both, the same share of kernel time is known.
TEST(Captures, KnownSharesAreThoseOfTheRunThatIsReplayed) {
  struct Pair {
    std::string replay, capture;
    int kernels;
  };
  const std::string shared = kRoot + "/../shared/traces/";
  for (const Pair& pair : {Pair{"pairs/launch_encoder.mended", "pairs/launch_encoder.fault", 448},
                           Pair{"h200/densenet121_bs1_cudagraph", "h200/densenet121_bs1_compiled", 2390}}) {
    const std::string replay = shared + pair.replay + ".json.gz", capture = shared + pair.capture + ".json.gz";
    if (!std::filesystem::exists(replay) || !std::filesystem::exists(capture)) GTEST_SKIP() << "no such traces here";
    const Engine replayed = open_with(replay, capture), ran = open_with(capture, "");
    const std::string count = std::to_string(pair.kernels);
    EXPECT_NE(message_of(replayed, "capture_matched").find(count + " of " + count), std::string::npos) << replay;
    const Report a = replayed.run("roofline", {}).value(), b = ran.run("roofline", {}).value();
    EXPECT_NEAR(number(a, "iterations", "flops_known_pct"), number(b, "iterations", "flops_known_pct"), 3) << replay;
    EXPECT_NEAR(number(a, "iterations", "bytes_known_pct"), number(b, "iterations", "bytes_known_pct"), 3) << replay;
  }
}

}  // namespace
}  // namespace ridge
