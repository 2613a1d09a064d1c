// What becomes of findings once the rules have found them: per iteration, in order, hidden on demand, and all of them together.
#include <gtest/gtest.h>

#include "analysis/findings/bounds.h"
#include "analysis/summary/summary.h"
#include "support/says.h"
#include "unit/analysis/findings/calls.h"

namespace ridge {
namespace {

using test::Found;
using test::kUs;

// Steps of 1 ms, each with a transform of 100 us around a convolution and a matrix that lies across, added in 400 us.
std::string ranked_steps(int steps) {
  const std::string across = test::args_of(
      {{"[8192, 8192]", "[8192, 1]", "c10::BFloat16"}, {"[8192, 8192]", "[1, 8192]", "c10::BFloat16"}, {.value = "1"}});
  std::string events = test::event({.name = "aten::empty", .ts = 10, .dur = 1});
  for (int i = 0; i < steps; ++i) {
    const int at = 1'000 * (i + 1);
    events +=
        ", " +
        test::join({test::event({.name = fmt::format("ProfilerStep#{}", i), .ts = at, .dur = 999, .cat = "user_annotation"}),
                    test::event({.name = "aten::conv2d", .ts = at + 5, .dur = 10}),
                    test::launch(2 * i + 1, at + 8, 4,
                                 "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float>()", at + 100, 100),
                    test::event({.name = "aten::add", .ts = at + 20, .dur = 10, .args = across}),
                    test::launch(2 * i + 2, at + 23, 4,
                                 "void at::native::elementwise_kernel<128, 4, at::native::CUDAFunctor_add<c10::BFloat16> >()",
                                 at + 200, 400),
                    test::event({.name = "cudaDeviceSynchronize", .ts = at + 40, .dur = 950, .cat = "cuda_runtime"})});
  }
  return events;
}

Findings findings_of(const Found& found, const Arguments& arguments, const std::vector<std::string>& ignored = {}) {
  const auto scope = make_scope(*found.loaded.model, arguments);
  EXPECT_TRUE(scope);
  return compute_findings(*scope, ignored);
}

// As many steps as there are, the figures are those of one; places are told from the start of what is looked at.
TEST(RankedFindings, ArePerIteration) {
  const Found two = test::found_on_h200(ranked_steps(2)), four = test::found_on_h200(ranked_steps(4));
  const RankedFinding *of_two = two.find("layout_transforms"), *of_four = four.find("layout_transforms");
  ASSERT_TRUE(of_two != nullptr && of_four != nullptr) << two.ids() << four.ids();
  // 100 us of an iteration, and some of what the device waits before it: less than two iterations' transforms.
  for (const RankedFinding* of_each : {of_two, of_four}) {
    EXPECT_GE(of_each->at_most_ns.value_or(0), 100 * kUs);
    EXPECT_LT(of_each->at_most_ns.value_or(0), 200 * kUs);
  }
  EXPECT_EQ(of_four->taken_ns, 2 * of_two->taken_ns) << "of the whole";
  EXPECT_EQ(of_two->start_ns, (1'100 - 10) * kUs) << "the first transform, from the first event on";
}

TEST(RankedFindings, StandByWhatTheySave) {
  const Found found = test::found_on_h200(ranked_steps(3));
  ASSERT_GE(found.findings.rows.size(), 2U) << found.ids();
  const std::int64_t unknown = -1;
  for (std::size_t i = 1; i < found.findings.rows.size(); ++i)
    EXPECT_GE(found.findings.rows[i - 1].savings.saves_ns.value_or(INT64_MAX),
              found.findings.rows[i].savings.saves_ns.value_or(unknown));
  EXPECT_LT(found.rank("memory_bound_inefficient"), found.rank("layout_transforms")) << found.ids();
}

// --ignore and --filter hide findings, which is said where nothing is left to list.
TEST(RankedFindings, ThatAreHiddenAreCounted) {
  const Found found = test::found_on_h200(ranked_steps(3));
  const auto all = static_cast<std::int64_t>(found.findings.rows.size());
  const Findings one_less = findings_of(found, {}, {"layout_transforms"});
  EXPECT_EQ(static_cast<std::int64_t>(one_less.rows.size()), all - 1);
  EXPECT_EQ(one_less.left_out, 1);
  const Findings one = findings_of(found, {{"filter", "layout_transforms"}});
  ASSERT_EQ(one.rows.size(), 1U);
  EXPECT_EQ(one.rows.front().id, "layout_transforms");
  EXPECT_EQ(one.left_out, all - 1);
  const Findings none = findings_of(found, {{"filter", "no_such_finding"}});
  EXPECT_TRUE(none.rows.empty());
  EXPECT_TRUE(test::says(report_findings(none).headline, {"hides all " + std::to_string(all)}));
}

// Together findings bring no more than a step; where one bound is not known, neither is that of all.
TEST(RankedFindings, TogetherBringNoMoreThanAStep) {
  const IterationTime time{.count = 2, .spans = IntervalSet({{0, 2'000}}), .median_ns = {}};
  using Bounds = std::vector<std::optional<std::int64_t>>;
  EXPECT_EQ(bound_of_all(Bounds{300, 400}, time), 700);
  EXPECT_EQ(bound_of_all(Bounds{800, 400}, time), 1'000);
  EXPECT_EQ(bound_of_all(Bounds{300, std::nullopt}, time), std::nullopt);
}

// A stretch of time that cuts the first of three steps: what is said per iteration is of the two whole ones, as if they had
// been asked for by number.
TEST(RankedFindings, PerIterationAreOfWholeIterations) {
  test::TraceText text;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = i * 2'000 * kUs;
    text.annotation(fmt::format("ProfilerStep#{}", i), at, at + 1'990 * kUs);
    for (int k = 0; k < 8; ++k) {
      const std::int64_t op = at + (100 + k * 200) * kUs;
      text.op("aten::add", op, op + 40 * kUs).call("cudaLaunchKernel", op + 20 * kUs, op + 30 * kUs, 8 * i + k + 1);
      text.kernel("k", op + 35 * kUs, op + 60 * kUs, 8 * i + k + 1);
    }
  }
  const auto trace = text.read();
  const Model model(*trace);
  const auto head = [&](const Arguments& arguments) {
    const auto scope = make_scope(model, arguments);
    return report_summary(compute_summary(*scope)).tables.at(0).row(0);
  };
  const auto columns = report_summary(compute_summary(Scope(model))).tables.at(0).columns;
  const Row by_time = head(Arguments{{"from", "0.7"}});
  const Row by_number = head(Arguments{{"step", "1-2"}});
  for (const std::string_view name : {"iterations", "iteration_ns", "median_iteration_ns", "gpu_busy_per_iteration_ns",
                                      "device_events_per_iteration", "mfu_pct", "bandwidth_pct", "step_without_profiler_ns"}) {
    const auto at = static_cast<std::size_t>(std::ranges::find(columns, name, &Column::name) - columns.begin());
    ASSERT_LT(at, by_time.size()) << name;
    EXPECT_EQ(by_time[at], by_number[at]) << name;
  }
}

// What is asked of `whatif`: the changes of a finding one by one, or the finding itself.
TEST(RankedFindings, NameTheirChange) {
  RankedFinding row{.id = "host_sync", .finding = {}, .at_most_ns = {}, .at_most_pct = {}, .shown_ns = {}, .start_ns = {}};
  EXPECT_EQ(change_text(row), "finding:host_sync");
  row.finding.changes = {"no-sync", "graph"};
  EXPECT_EQ(change_text(row), "no-sync graph");
}

}  // namespace
}  // namespace ridge
