// What findings says of a device that waits for reasons that no finding knows a remedy for.
#include "analysis/findings/unclaimed_idle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/findings/findings.h"
#include "analysis/summary/summary.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::kUs;
using test::TraceText;

const Diagnostic* said(const Report& report) {
  const auto found = std::ranges::find(report.diagnostics, "idle_without_finding", &Diagnostic::code);
  return found == report.diagnostics.end() ? nullptr : &*found;
}

// A graph is launched at once behind a kernel, and its first node starts `wait_us` later: it waits for another process.
test::LoadedTrace replay_that_starts_late(std::int64_t wait_us) {
  TraceText text;
  text.annotation("ProfilerStep#1", 0, 100 * kUs);
  text.call("cudaLaunchKernel", 5 * kUs, 8 * kUs, 1).kernel("first", 10 * kUs, 60 * kUs, 1);
  text.call("cudaGraphLaunch", 10 * kUs, 20 * kUs, 2);
  const std::int64_t start = (60 + wait_us) * kUs;
  text.kernel("node_a", start, start + 2'000 * kUs, 2).kernel("node_b", start + 2'001 * kUs, start + 4'000 * kUs, 2);
  return test::LoadedTrace(text.read());
}

Report findings_of_a_replay_that_starts_late(std::int64_t wait_us) {
  const test::LoadedTrace loaded = replay_that_starts_late(wait_us);
  const Findings findings = compute_findings(Scope(*loaded.model));
  EXPECT_TRUE(findings.rows.empty());
  return report_findings(findings);
}

TEST(UnclaimedIdle, IsSaidWithItsCause) {
  const Report report = findings_of_a_replay_that_starts_late(97'000);
  ASSERT_NE(said(report), nullptr);
  EXPECT_NE(said(report)->message.find("dependency 96.0 %"), std::string::npos) << said(report)->message;
  EXPECT_NE(report.headline.find("the device idles 96.0 % of the iteration"), std::string::npos) << report.headline;
}

TEST(UnclaimedIdle, IsNotSaidOfABusyDevice) {
  const Report report = findings_of_a_replay_that_starts_late(200);
  EXPECT_EQ(said(report), nullptr);
  EXPECT_EQ(report.headline, "nothing found: none of the known causes takes a notable share of the time");
}

// The page that is read first: no findings, and a device that idles, is no good news.
TEST(UnclaimedIdle, IsSaidInTheSummaryWhereNothingIsFound) {
  const test::LoadedTrace idle = replay_that_starts_late(97'000), busy = replay_that_starts_late(200);
  const Report report = report_summary(compute_summary(Scope(*idle.model)));
  ASSERT_NE(said(report), nullptr);
  EXPECT_EQ(said(report)->severity, "warning");
  EXPECT_NE(said(report)->message.find("dependency 96.0 %"), std::string::npos) << said(report)->message;
  EXPECT_EQ(said(report_summary(compute_summary(Scope(*busy.model)))), nullptr);
}

TEST(UnclaimedIdle, OfAServersReplay) {
  const auto path = test::path_of("sglang_decode_replay");
  if (!path) GTEST_SKIP() << "no such trace here";
  const test::LoadedTrace loaded = test::load_file(*path);
  const Findings findings = compute_findings(Scope(*loaded.model));
  ASSERT_EQ(findings.unclaimed.size(), 1U);
  EXPECT_EQ(findings.unclaimed[0].cause, IdleCause::dependency);
  EXPECT_NEAR(findings.unclaimed[0].pct, 97.8, 0.1);
}

}  // namespace
}  // namespace ridge
