// What is asked of an engine can be given up: queries and analyses end soon after, keep nothing half made, and can be asked
// again.
#include <ridge/engine.h>
#include <ridge/stop.h>

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/stop.h"
#include "engine/cache.h"
#include "model/once.h"
#include "support/files.h"

namespace ridge {
namespace {

// Would take its 60 seconds, and then say that it took too long.
constexpr const char* kEndless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

Engine open_fixture() {
  auto engine = Engine::open({test::source_dir() + "/tests/fixtures/mlp_profiler_steps.json.gz"}, {});
  EXPECT_TRUE(engine.has_value());
  return std::move(*engine);
}

TEST(StopWhen, AQueryUnderWayIsStopped) {
  const Engine engine = open_fixture();
  for (const bool kept : {false, true}) {
    std::atomic<bool> flag = false;
    std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      flag = true;
    });
    const StopWhen stop(flag);
    const Arguments query{{"query", kEndless}};
    const Error error = kept ? engine.kept_report("sql", query).error() : engine.run("sql", query).error();
    EXPECT_EQ(error.code, ErrorCode::interrupted) << error.message;
  }
  EXPECT_TRUE(engine.run("sql", {{"query", "select 1"}})) << "outside of StopWhen nobody asks to stop";
}

// Tables of an analysis are made while SQLite prepares the query: what stops them goes through it.
TEST(StopWhen, AnAnalysisInAQueryIsStopped) {
  const Engine engine = open_fixture();
  std::atomic<bool> flag = true;
  {
    const StopWhen stop(flag);
    EXPECT_EQ(engine.run("sql", {{"query", "select * from kernels()"}}).error().code, ErrorCode::interrupted);
  }
  EXPECT_TRUE(engine.run("sql", {{"query", "select * from kernels()"}}));
}

TEST(StopWhen, EveryAnalysisCanBeStoppedAndAskedAgain) {
  const Engine engine = open_fixture();
  std::atomic<bool> flag = false;
  for (const AnalysisInfo& info : analyses()) {
    if (!info.needs_trace || info.fewest_traces > 1) continue;
    const StopWhen stop(flag);
    flag = true;
    const std::uint64_t before = engine.cached_bytes();
    EXPECT_EQ(engine.kept_report(info.name, {}).error().code, ErrorCode::interrupted) << info.name;
    EXPECT_EQ(engine.timeline(0, {}).error().code, ErrorCode::interrupted);
    EXPECT_EQ(engine.cached_bytes(), before) << "nothing half made is kept";
    flag = false;
    const auto asked = engine.kept_report(info.name, {});
    EXPECT_TRUE(asked.has_value() || asked.error().code == ErrorCode::usage) << info.name;
  }
}

TEST(Stop, WhatOneWasStoppedInAnotherMakes) {
  Once<int> once;
  std::atomic<bool> flag = true;
  {
    const Stop::Use use(&flag);
    EXPECT_THROW(once.get([] { return Stop::look(), 1; }), Stopped);
  }
  EXPECT_EQ(once.if_made(), nullptr);
  EXPECT_EQ(once.get([] { return 2; }), 2);
}

struct Made {
  std::uint64_t memory_bytes() const { return 1; }
};

TEST(Stop, WhoWaitsForAnotherNeedNot) {
  Cache cache(1000);
  std::atomic<bool> begun = false, flag = false, waited = false;
  const std::jthread maker([&] {
    (void)cache.get<Made>("key", [&]() -> Result<std::shared_ptr<const Made>> {
      begun = true;
      waited.wait(false);
      return std::make_shared<const Made>();
    });
  });
  while (!begun) std::this_thread::yield();
  flag = true;
  {
    const Stop::Use use(&flag);
    EXPECT_THROW((void)cache.get<Made>("key", []() -> Result<std::shared_ptr<const Made>> { return nullptr; }), Stopped);
  }
  waited = true;
  waited.notify_all();
}

}  // namespace
}  // namespace ridge
