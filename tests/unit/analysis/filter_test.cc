// --filter: that nothing matches is said where there was something to match, once, and not where the answer is empty anyhow.
#include <algorithm>

#include <gtest/gtest.h>

#include <ridge/engine.h>
#include "support/files.h"

namespace ridge {
namespace {

Engine open_fixture(const std::string& name) {
  auto engine = Engine::open({test::source_dir() + "/tests/fixtures/" + name + ".json.gz"}, {});
  EXPECT_TRUE(engine) << name;
  return std::move(*engine);
}

// How often the answer says that no name matches.
std::ptrdiff_t times_said(const Engine& engine, std::string_view analysis, const std::string& filter) {
  const auto report = engine.run(analysis, {{"filter", filter}});
  EXPECT_TRUE(report) << analysis;
  const std::vector<Diagnostic>& all = report->diagnostics;
  return std::count_if(all.begin(), all.end(), [](const Diagnostic& d) { return d.code == "filter_matches_nothing"; });
}

TEST(FilterMatchesNothing, IsNotSaidWhereThereIsNothingToMatch) {
  const Engine device = open_fixture("clean_busy_gemm"), host = open_fixture("cpu_activity_only");
  for (const char* analysis : {"check", "memory", "collectives", "graphs", "breaks", "compile"})
    EXPECT_EQ(times_said(device, analysis, "aten::"), 0) << analysis;
  for (const char* analysis : {"launches", "kernels", "gpu", "findings", "breaks", "compile", "copies"})
    EXPECT_EQ(times_said(host, analysis, "aten::"), 0) << analysis;
}

TEST(FilterMatchesNothing, IsSaidOnceWhereSomethingIsLeftOut) {
  const Engine device = open_fixture("graph_breaks_stack");
  for (const char* analysis : {"kernels", "ops", "breaks", "graphs", "gaps", "launches", "gpu", "summary", "categories"}) {
    EXPECT_EQ(times_said(device, analysis, "no_name_is_like_this"), 1) << analysis;
    EXPECT_EQ(times_said(device, analysis, "."), 0) << analysis;
  }
}

// The answer says itself that it leaves some out.
TEST(FilterMatchesNothing, IsLeftToFindings) {
  const Engine device = open_fixture("fault_item_sync");
  EXPECT_EQ(times_said(device, "findings", "no_id_is_like_this"), 0);
  const auto report = device.run("findings", {{"filter", "no_id_is_like_this"}});
  ASSERT_EQ(report->diagnostics.at(0).code, "no_findings");
  EXPECT_NE(report->diagnostics[0].message.find("--filter (by id) hides all"), std::string::npos);
}

}  // namespace
}  // namespace ridge
