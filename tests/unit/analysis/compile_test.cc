// Totals and self times of phases by hand, and against Dynamo's own table of the same run.
#include "analysis/compile/compile.h"

#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

Compile compile_of(const LoadedTrace& t) { return compute_compile(Scope(*t.model)); }

TEST(Compile, TotalsAndSelfTimes) {
  const auto phase = [](std::string_view key, int ts, int dur) {
    return event({.name = std::string(key) + " (dynamo_timed)", .ts = ts, .dur = dur});
  };
  const LoadedTrace t = load_events(join({
      phase("outer", 0, 100),
      phase("part", 10, 20),
      phase("part", 40, 30),
      phase("inner", 45, 5),
      phase("outer", 200, 50),
      phase("CachingAutotuner.benchmark_all_configs", 300, 40),
      launch(1, 310, 1, "k", 320, 9),
  }));
  const Compile compile = compile_of(t);
  std::map<std::string, std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>> rows;
  for (const PhaseCost& p : compile.phases)
    rows[std::string(p.phase)] = {p.calls, p.total_ns / 1000, p.self_ns / 1000, std::string(p.parent)};
  EXPECT_EQ(rows["outer"], std::tuple(2, 150, 100, ""));
  EXPECT_EQ(rows["part"], std::tuple(2, 50, 45, "outer"));
  EXPECT_EQ(rows["inner"], std::tuple(1, 5, 5, "part"));
  EXPECT_EQ(compile.total_ns(), 150'000);
  EXPECT_EQ(compile.autotune_ns(), 40'000);
  ASSERT_EQ(compile.kernels.size(), 1U);
  EXPECT_EQ(compile.kernels[0].launches, 1);
  EXPECT_EQ(compile.kernels[0].gpu_ns, 9'000);
}

// Whatever the scope, self is total less what is nested: parts of the window add up to it.
TEST(Compile, PartsOfTheWindowAddUp) {
  const auto phase = [](std::string_view key, int ts, int dur) {
    return event({.name = std::string(key) + " (dynamo_timed)", .ts = ts, .dur = dur});
  };
  const LoadedTrace t = load_events(join({phase("outer", 0, 100), phase("early", 10, 20), phase("late", 60, 30)}));
  const auto part = [&](std::string_view flag) {
    return compute_compile(*make_scope(*t.model, {{std::string(flag), "0.05"}}));
  };
  const Compile first = part("to"), second = part("from");
  ASSERT_EQ(first.phases.size(), 2U);
  EXPECT_EQ(first.phases[0].self_ns, 50'000);  // outer: less early and less late, which is behind the scope
  ASSERT_EQ(second.phases.size(), 1U);
  EXPECT_EQ(second.phases[0].self_ns, 30'000);
  EXPECT_EQ(first.total_ns() + second.total_ns(), compile_of(t).total_ns());
}

TEST(Compile, IdsFromTheRegionThatFollows) {
  const LoadedTrace t = load_events(join({
      event({.name = "TorchDynamo Cache Lookup", .ts = 0, .dur = 1}),
      event({.name = "compile_inner (dynamo_timed)", .ts = 10, .dur = 50, .cat = "user_annotation"}),
      event({.name = "Torch-Compiled Region: 3/2", .ts = 70, .dur = 100}),
      event({.name = "CachingAutotuner.benchmark_all_configs (dynamo_timed)", .ts = 80, .dur = 10, .cat = "user_annotation"}),
  }));
  for (const PhaseCost& p : compile_of(t).phases) EXPECT_EQ(text_of(p.id), "3/2") << p.phase;
}

// Dynamo's own table of the same run: every phase that both name, sums over calls, within 2 % or 2 ms.
TEST(Compile, AgreesWithDynamo) {
  const auto path = path_of("resnet18_compile_time");
  if (!path) GTEST_SKIP() << "no such trace here";
  std::istringstream table(contents(path->substr(0, path->size() - std::string(".json.gz").size()) + ".compile_times.txt"));
  std::map<std::string, double> truth;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string name, value;
    fields >> name;
    double sum = 0;
    int values = 0;
    for (; fields >> value; ++values) sum += std::atof(value.c_str());
    if (values > 0 && sum > 0) truth[name] = sum;
  }
  const LoadedTrace t = load_file(*path);
  std::map<std::string, double> ours;
  for (const PhaseCost& p : compile_of(t).phases) ours[std::string(p.phase)] += static_cast<double>(p.total_ns) / 1e9;
  int compared = 0;
  for (const auto& [phase, seconds] : truth) {
    if (!ours.contains(phase)) continue;
    ++compared;
    EXPECT_NEAR(ours[phase], seconds, std::max(0.02 * seconds, 0.002)) << phase;
  }
  EXPECT_EQ(compared, 55);
}

TEST(Compile, AutotunedKernelsOfResnet) {
  const auto path = path_of("resnet18_compile_time");
  if (!path) GTEST_SKIP() << "no such trace here";
  const LoadedTrace t = load_file(*path);
  const Compile compile = compile_of(t);
  std::int64_t calls = 0;
  for (const TunedKernel& k : compile.kernels) {
    calls += k.calls;
    EXPECT_TRUE(k.kernel.starts_with("triton_")) << k.kernel;
    EXPECT_GT(k.launches, 0) << k.kernel;
  }
  EXPECT_EQ(calls, 31);  // as Dynamo's table lists
}

}  // namespace
}  // namespace ridge::test
