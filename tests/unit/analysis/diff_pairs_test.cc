// diff on real pairs: how much of the device time is matched and on what evidence, that equal traces do not differ, and that
// all adds up.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "analysis/diff/match.h"
#include "support/diffed.h"
#include "support/files.h"

namespace ridge {
namespace {

using diff::Group;
using diff::Match;
using test::Diffed;

struct PairCase {
  const char* a;
  const char* b;
  Match weakest;  // evidence that counts as matched
  double least_a, least_b;
  std::int64_t iterations_a, iterations_b;
};

// Least percentages as the project's table of pairs has them; iterations as the programs ran.
constexpr PairCase kPairs[] = {
    {"h100_bert_small", "mi300x_bert_small", Match::moved, 99, 99, 1, 1},
    {"h100_qwen1.5_0.5b", "mi300x_qwen1.5_0.5b", Match::moved, 99, 99, 1, 1},
    {"omni_compiled_half", "omni_compiled_half_x5", Match::kernel, 99, 99, 1, 5},
    {"resnet18_eager_shapes", "resnet18_compiled_stack_mem", Match::moved, 97, 97, 3, 3},
    {"resnet18_eager_shapes", "resnet18_compiled", Match::moved, 95, 95, 3, 3},
    {"gpt_eager_train", "gpt_compiled_train", Match::moved, 97, 97, 3, 3},
    {"densenet121_bs1_eager", "densenet121_bs1_compiled", Match::moved, 95, 95, 5, 5},
    {"densenet121_bs1_eager", "densenet121_bs1_cudagraph", Match::moved, 95, 95, 5, 5},
    {"densenet121_bs1_compiled", "densenet121_bs1_cudagraph", Match::kernel, 98, 98, 5, 5},
    {"fault_channels_first", "clean_channels_last", Match::moved, 95, 95, 3, 3},
    {"fault_unfused_pointwise", "clean_fused_pointwise", Match::moved, 95, 95, 3, 3},
    {"fault_item_sync", "clean_no_sync", Match::moved, 30, 95, 3, 3},  // what a sync reads back is work of its own
    {"fault_optimizer_loop", "clean_optimizer_fused", Match::region, 95, 95, 3, 3},
    {"fault_pageable_copy", "clean_pinned_copy", Match::moved, 95, 95, 3, 3},
    {"fault_fp32_no_tf32", "clean_tf32", Match::moved, 95, 95, 3, 3},
};

bool is_heavy(Category c) {
  return c == Category::gemm || c == Category::conv || c == Category::attention || c == Category::triton_template;
}

// The figure that a test is about, in its output and in its record.
void figure(const std::string& what, const std::string& value) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  fmt::print("figure: {}.{}: {}: {}\n", test->test_suite_name(), test->name(), what, value);
  ::testing::Test::RecordProperty("figure", what + ": " + value);
}
void share(const std::string& what, double part, double whole) { figure(what, fmt::format("{:.2f} %", 100 * part / whole)); }

class Pairs : public ::testing::TestWithParam<PairCase> {
 protected:
  void SetUp() override {
    const auto a = test::path_of(GetParam().a), b = test::path_of(GetParam().b);
    if (!a || !b) GTEST_SKIP() << "no such traces here";
    diffed_ = std::make_unique<Diffed>(test::diff_files(*a, *b));
  }
  std::unique_ptr<Diffed> diffed_;
};

TEST_P(Pairs, AreCoveredAndAddUp) {
  const PairCase& c = GetParam();
  EXPECT_EQ(diffed_->answer.sides[0].iterations, c.iterations_a);
  EXPECT_EQ(diffed_->answer.sides[1].iterations, c.iterations_b);
  const double a = diffed_->coverage(0, c.weakest), b = diffed_->coverage(1, c.weakest);
  figure(fmt::format("matched by {} or better, % of GPU time", name_of(c.weakest)), fmt::format("{:.2f} / {:.2f}", a, b));
  EXPECT_GE(a, c.least_a);
  EXPECT_GE(b, c.least_b);
  expect_closed(*diffed_, c.a);
}

// Kernels of matrix work are on both sides of a one-to-one group, or on none. (A larger group holds what surrounds matrix work,
// too.)
TEST_P(Pairs, MatchMatrixWorkWithMatrixWork) {
  const diff::Diff& answer = diffed_->answer;
  for (const Group& group : answer.groups) {
    if (!group.match || group.sides[0].positions.size() != 1 || group.sides[1].positions.size() != 1) continue;
    EXPECT_EQ(group.heavy[0], group.heavy[1]) << group.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pairs, ::testing::ValuesIn(kPairs), [](const auto& instance) {
  std::string name = std::string(instance.param.a) + "_" + instance.param.b;
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(Diff, FindsNoChangeBetweenRecordingsOfOneProgram) {
  for (const auto& [a, b] : {std::pair("omni_compiled_half", "omni_compiled_half_x5"),
                             std::pair("resnet18_compiled", "resnet18_compiled_stack_mem")}) {
    const auto path_a = test::path_of(a), path_b = test::path_of(b);
    if (!path_a || !path_b) continue;
    const Diffed diffed = test::diff_files(*path_a, *path_b);
    EXPECT_TRUE(diffed.groups_where([](const Group& g) { return g.changes[1].significant; }).empty()) << a;
  }
}

TEST(Diff, ReportsTheCopyIntoStaticInputsAsAdded) {
  for (const char* before : {"densenet121_bs1_eager", "densenet121_bs1_compiled"}) {
    const auto a = test::path_of(before), b = test::path_of("densenet121_bs1_cudagraph");
    if (!a || !b) continue;
    const Diffed diffed = test::diff_files(*a, *b);
    const auto added =
        diffed.groups_where([](const Group& g) { return g.sides[0].positions.empty() && g.name == "aten::_foreach_copy_"; });
    ASSERT_EQ(added.size(), 1U) << before;
    EXPECT_FALSE(added[0]->match.has_value());
    EXPECT_TRUE(added[0]->changes[1].significant);
  }
}

TEST(Diff, MatchesAFusedOptimizerByRegion) {
  const auto a = test::path_of("fault_optimizer_loop"), b = test::path_of("clean_optimizer_fused");
  if (!a || !b) GTEST_SKIP() << "no such traces here";
  const Diffed diffed = test::diff_files(*a, *b);
  const auto regions = diffed.groups_where([](const Group& g) { return g.match == Match::region; });
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_GT(regions[0]->sides[0].positions.size(), 100U);  // the loop
  EXPECT_GE(regions[0]->sides[1].positions.size(), 1U);
  EXPECT_LT(regions[0]->changes[1].delta_ns, 0);
}

// Durations, which the matcher never reads, prove the pairs of matrix work.
TEST(Diff, PairsMatrixWorkOfEqualDuration) {
  const auto a = test::path_of("gpt_eager_train"), b = test::path_of("gpt_compiled_train");
  if (!a || !b) GTEST_SKIP() << "no such traces here";
  const Diffed diffed = test::diff_files(*a, *b);
  double all = 0, close = 0;
  for (const Group& group : diffed.answer.groups) {
    if (!is_heavy(group.category)) continue;
    const auto x = static_cast<double>(group.sides[0].time_ns), y = static_cast<double>(group.sides[1].time_ns);
    all += x;
    if (x > 0 && std::abs(y / x - 1) <= 0.1) close += x;
  }
  ASSERT_GT(all, 0);
  share("GEMM and attention time paired within 10 % of duration", close, all);
  EXPECT_GE(close / all, 0.95);
}

// Links of one comparison: typical iterations kept, so that positions can be told apart.
struct Linked {
  std::vector<test::LoadedTrace> traces;
  std::vector<Scope> scopes;
  diff::KeyPool pool;
  std::vector<diff::TypicalIteration> typical;
  diff::Links links;

  Linked(const std::string& a, const std::string& b) {
    traces.push_back(test::load_file(a));
    traces.push_back(test::load_file(b));
    for (const auto& trace : traces) scopes.emplace_back(*trace.model);
    const diff::RunMode ma = diff::run_mode(scopes[0]), mb = diff::run_mode(scopes[1]);
    for (const Scope& scope : scopes)
      typical.push_back(diff::build_template(scope, diff::build_sequence(scope, diff::common_grain(ma, mb), {}, pool), pool));
    links = diff::match(typical[0], typical[1], ma, mb);
  }
};

TEST(Diff, LinksEagerOpsWithKernelsOfTheirShapes) {
  const auto a = test::path_of("resnet18_eager_shapes"), b = test::path_of("resnet18_compiled_stack_mem");
  if (!a || !b) GTEST_SKIP() << "no such traces here";
  const Linked linked(*a, *b);
  double all = 0, consistent = 0;
  for (const diff::Link& link : linked.links) {
    const diff::CallKind &op = linked.typical[0].kind(link.a), &kernel = linked.typical[1].kind(link.b);
    if (op.dims == diff::kNoKey || kernel.dims == diff::kNoKey || op.shapes.tensors.empty()) continue;
    const auto time = static_cast<double>(linked.typical[0].positions[link.a].per_iteration_ns());
    const bool same = std::any_of(op.shapes.tensors.begin(), op.shapes.tensors.end(),
                                  [&](const diff::TensorDims& t) { return kernel.shapes.holds_numel(t.numel); });
    all += time;
    if (same) consistent += time;
  }
  ASSERT_GT(all, 0);
  share("linked time that is shape-consistent", consistent, all);
  EXPECT_GE(consistent / all, 0.95);
}

// The same program recorded with and without shapes: an eager op is linked to the same kernels.
TEST(Diff, LinksAlikeWithAndWithoutShapes) {
  const auto a = test::path_of("resnet18_eager_shapes"), with = test::path_of("resnet18_compiled_stack_mem"),
             without = test::path_of("resnet18_compiled");
  if (!a || !with || !without) GTEST_SKIP() << "no such traces here";
  const Linked known(*a, *with), bare(*a, *without);
  ASSERT_EQ(known.typical[0].positions.size(), bare.typical[0].positions.size());
  ASSERT_EQ(known.typical[1].positions.size(), bare.typical[1].positions.size());
  const auto partners = [](const Linked& linked) {
    std::vector<std::set<std::uint32_t>> of(linked.typical[0].positions.size());
    for (const diff::Link& link : linked.links) of[link.a].insert(link.b);
    return of;
  };
  const auto x = partners(known), y = partners(bare);
  double all = 0, alike = 0;
  for (std::size_t p = 0; p < x.size(); ++p) {
    const auto time = static_cast<double>(known.typical[0].positions[p].per_iteration_ns());
    all += time;
    if (std::any_of(x[p].begin(), x[p].end(), [&](std::uint32_t b) { return y[p].contains(b); })) alike += time;
  }
  ASSERT_GT(all, 0);
  share("eager time linked as with shapes", alike, all);
  EXPECT_GE(alike / all, 0.90);
}

TEST(Diff, FindsNothingBetweenATraceAndItself) {
  for (const std::string& path : test::all_traces()) {
    const Diffed diffed = test::diff_files(path, path);
    for (const Group& group : diffed.answer.groups) {
      ASSERT_EQ(group.changes[1].delta_ns, 0) << path << " " << group.name;
      ASSERT_TRUE(group.match.has_value()) << path << " " << group.name;
      ASSERT_FALSE(group.changes[1].significant) << path << " " << group.name;
    }
    EXPECT_EQ(diffed.answer.sides[0].gpu_ns, diffed.answer.sides[1].gpu_ns) << path;
    EXPECT_EQ(diffed.answer.sides[0].wall_ns, diffed.answer.sides[1].wall_ns) << path;
    expect_closed(diffed, path);
  }
}

}  // namespace
}  // namespace ridge
