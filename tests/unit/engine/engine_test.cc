// The engine: what it keeps stays within its budget, handles outlive it, and each has threads of its own.
#include <ridge/engine.h>
#include <ridge/render.h>
#include <ridge/timeline.h>

#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "base/threads.h"
#include "engine/parameters.h"
#include "support/files.h"

namespace ridge {
namespace {

Engine open_fixture(const std::string& name, const OpenOptions& options = {}) {
  auto engine = Engine::open({test::source_dir() + "/tests/fixtures/" + name + ".json.gz"}, options);
  EXPECT_TRUE(engine.has_value());
  return std::move(*engine);
}

std::string json_of(const Engine& engine, std::string_view analysis, const Arguments& arguments = {}) {
  const auto report = engine.run(analysis, arguments);
  return report ? report_text(*report, **find_format("json")).value() : report.error().message;
}

TEST(Engine, TablesStayWithinTheBudget) {
  constexpr std::uint64_t kBudget = 100'000;  // about two combinations of this trace
  const Engine kept = open_fixture("fault_item_sync"), tight = open_fixture("fault_item_sync", {.cache_bytes = kBudget});
  std::uint64_t before = 0;
  for (int mhz = 1000; mhz < 1020; ++mhz) {
    const Arguments arguments{{"device", "h100"}, {"clock_mhz", std::to_string(mhz)}, {"runs", std::to_string(mhz - 999)}};
    EXPECT_EQ(json_of(tight, "kernels", arguments), json_of(kept, "kernels", arguments));
    EXPECT_LE(tight.cached_bytes(), kBudget);
    EXPECT_GT(kept.cached_bytes(), before) << "the default holds all of them";
    before = kept.cached_bytes();
  }
  EXPECT_GT(before, kBudget);
}

TEST(Engine, ATimelineInUseOutlivesItsPlaceAndTheEngine) {
  std::optional<Engine> engine = open_fixture("fault_item_sync", {.cache_bytes = 1});
  const std::shared_ptr<const Timeline> held = engine->timeline(0, {}).value();
  const std::size_t groups = held->groups().size();
  EXPECT_EQ(engine->timeline(0, {}).value(), held) << "what is in use is not made twice";
  for (const char* runs : {"1", "2", "3"}) {
    EXPECT_TRUE(engine->timeline(0, {{"runs", runs}}).has_value());
    EXPECT_FALSE(json_of(*engine, "summary", {{"runs", runs}}).empty());
  }
  engine.reset();
  EXPECT_EQ(held->groups().size(), groups);
  EXPECT_FALSE(held->marks().empty());
}

// Whichever ends first, the other's answers and threads are what they were.
TEST(Engine, TwoWithDifferentThreadsEndInAnyOrder) {
  const std::string expected = json_of(open_fixture("mlp_profiler_steps"), "summary");
  for (const bool first_goes : {true, false}) {
    std::optional<Engine> one = open_fixture("mlp_profiler_steps", {.threads = 1});
    std::optional<Engine> more = open_fixture("mlp_profiler_steps", {.threads = 3});
    EXPECT_EQ(json_of(*one, "summary"), expected);
    (first_goes ? one : more).reset();
    EXPECT_TRUE(Threads::may_have_more()) << "an engine leaves no limit behind";
    EXPECT_EQ(json_of(first_goes ? *more : *one, "summary"), expected);
  }
  EXPECT_TRUE(Threads::may_have_more());
}

TEST(Parameters, EachSharedOneSaysWhatItChanges) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : shared_parameters()) {
    EXPECT_NE(parameter.changes, Changes::answer) << parameter.name;
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
  }
  const auto key = [](const Arguments& arguments) { return key_of(arguments, Changes::costs); };
  for (const Parameter& parameter : shared_parameters()) {
    const Arguments given{{std::string(parameter.name), "1"}};
    EXPECT_EQ(key(given) != key({}), parameter.changes == Changes::costs) << parameter.name;
  }
}

TEST(Parameters, AnAnalysisMayDescribeASharedOneInItsOwnWords) {
  const AnalysisRow& diff = **find_analysis("diff");
  std::set<std::string_view> names;
  for (const Parameter& parameter : parameters_of(diff)) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name << " comes twice";
    if (parameter.name == "from") {
      EXPECT_EQ(parameter.changes, Changes::scope);
    }
  }
  EXPECT_TRUE(names.contains("runs"));
}

TEST(Engine, PagesOfATableAreViewsOfOneReport) {
  const Engine engine = open_fixture("gpt_compiled_train");
  const Arguments by_launch = {{"by", "launch"}};
  const auto first = engine.kept_report("kernels", by_launch), again = engine.kept_report("kernels", by_launch);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->get(), again->get());
  EXPECT_NE(first->get(), engine.kept_report("kernels", {{"by", "op"}})->get());
  EXPECT_NE(first->get(), engine.kept_report("kernels", by_launch, 0)->get());
  EXPECT_GT((*first)->memory_bytes(), (*first)->tables[0].size() * 8 * 10);  // ten columns of numbers at least
  EXPECT_FALSE(engine.kept_report("kernels", {{"by", "nothing"}}));
}

TEST(Engine, AReportStaysWhereTheBudgetHasNoRoomForIt) {
  const Engine engine = open_fixture("gpt_compiled_train", {.cache_bytes = 1});
  const auto report = engine.kept_report("kernels", {{"by", "launch"}});
  ASSERT_TRUE(report);
  EXPECT_GT((*report)->tables[0].size(), 0U);
  EXPECT_EQ(json_of(engine, "kernels", {{"by", "launch"}}), report_text(**report, **find_format("json")).value());
}

}  // namespace
}  // namespace ridge
