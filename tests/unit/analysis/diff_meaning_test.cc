// diff on steps made by hand that do the same by other means: a list of tensors at once, a step rewritten, padded products,
// work computed again, a replayed graph. And next to each, what must not be matched.
#include <gtest/gtest.h>

#include "analysis/diff/regions.h"
#include "support/diffed.h"
#include "support/made_step.h"

namespace ridge {
namespace {

using diff::Group;
using diff::Match;
using test::Diffed;
using test::made_step;
using test::MadeCall;
using test::replayed_step;

Diffed diff_events(const std::string& a, const std::string& b) {
  std::vector<test::LoadedTrace> traces;
  traces.push_back(test::load_events(a));
  traces.push_back(test::load_events(b));
  return Diffed(std::move(traces));
}

const Group* find(const Diffed& diffed, std::string_view name) {
  for (const Group& group : diffed.answer.groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

std::string names(const Diffed& diffed) {
  std::string all;
  for (const Group& group : diffed.answer.groups) all += group.name + "\n";
  return all;
}

constexpr MadeCall kSoftmax{.op = "aten::_softmax", .kernel = "softmax_warp_forward", .us = 500};

// ---- a kernel tuned otherwise

TEST(DiffMeaning, AKernelWithOtherTemplateIntegersIsTheSameKernelChanged) {
  const auto step = [](std::string_view elementwise, std::string_view reduce) {
    return replayed_step(
        {kSoftmax, {.op = "", .kernel = elementwise, .us = 10}, {.op = "", .kernel = reduce, .us = 20}, kSoftmax});
  };
  const Diffed diffed =
      diff_events(step("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
                       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, 4>>(int)"),
                  step("void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<float>>(int)",
                       "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, 4>>(int)"));
  for (const Group& group : diffed.answer.groups) EXPECT_EQ(group.match, Match::kernel) << group.name;
  EXPECT_EQ(diffed.answer.groups.size(), 4U) << names(diffed);
  // Another type is another kernel.
  const Diffed other = diff_events(step("void fill_kernel<4, float>(int)", "void reduce_kernel<512, Sum<float>>(int)"),
                                   step("void fill_kernel<4, double>(int)", "void reduce_kernel<512, Sum<float>>(int)"));
  EXPECT_EQ(other.answer.groups.size(), 5U) << names(other);
}

TEST(DiffMeaning, WhatTookTheSameTimeIsCalledTheSame) {
  const std::string step = made_step({kSoftmax, {.op = "aten::mul_", .kernel = "mul_kernel", .us = 10}});
  const Diffed diffed = diff_events(step, step);
  const Table table = report_diff(diffed.answer).tables[0];
  for (std::size_t i = 0; i < table.size(); ++i) EXPECT_EQ(table.find("change")->text(i), "same");
}

// ---- a list at once
// ---------------------------------------------------------------------------------------------------------------

TEST(DiffMeaning, AForeachCallIsTheLoopItReplaces) {
  const MadeCall mul{.op = "aten::mul_", .kernel = "mul_kernel", .us = 10};
  const Diffed diffed =
      diff_events(made_step({kSoftmax, mul, mul, mul}),
                  made_step({kSoftmax, {.op = "aten::_foreach_mul_", .kernel = "multi_tensor_apply_kernel", .us = 12}}));
  const Group* group = find(diffed, "aten::mul_ x3 -> aten::_foreach_mul_");
  ASSERT_NE(group, nullptr) << names(diffed);
  EXPECT_EQ(group->match, Match::fused);
  EXPECT_EQ(group->sides[0].time_ns, 30'000);
  EXPECT_EQ(group->changes[1].delta_ns, -18'000);
  // The other way round.
  const Diffed back =
      diff_events(made_step({kSoftmax, {.op = "aten::_foreach_norm", .kernel = "multi_tensor_apply_kernel", .us = 12}}),
                  made_step({kSoftmax,
                             {.op = "aten::linalg_vector_norm", .kernel = "reduce_kernel"},
                             {.op = "aten::linalg_vector_norm", .kernel = "reduce_kernel"}}));
  EXPECT_NE(find(back, "aten::_foreach_norm -> aten::linalg_vector_norm x2"), nullptr) << names(back);
}

TEST(DiffMeaning, AForeachCallBesideAnotherOpIsNew) {
  const Diffed diffed =
      diff_events(made_step({kSoftmax, {.op = "aten::copy_", .kernel = "copy_kernel"}}),  // one call is no loop
                  made_step({kSoftmax, {.op = "aten::_foreach_copy_", .kernel = "multi_tensor_apply_kernel"}}));
  const Group* added = find(diffed, "aten::_foreach_copy_");
  ASSERT_NE(added, nullptr) << names(diffed);
  EXPECT_FALSE(added->match.has_value());
  EXPECT_TRUE(added->sides[0].positions.empty());
}

// ---- named steps
// ------------------------------------------------------------------------------------------------------------------

TEST(DiffMeaning, AStepThatWasRewrittenIsMatchedByItsName) {
  const MadeCall lerp{.op = "aten::lerp_", .kernel = "lerp_kernel", .mark = "ema update 7"};
  const MadeCall own{.op = "mylib::ema", .kernel = "ema_kernel", .us = 9, .mark = "ema update 8"};
  const Diffed diffed = diff_events(made_step({kSoftmax, lerp, lerp}), made_step({kSoftmax, own}));
  const Group* region = find(diffed, "[ema update]");
  ASSERT_NE(region, nullptr) << names(diffed);
  EXPECT_EQ(region->match, Match::region);
  EXPECT_EQ(region->changes[1].delta_ns, 9'000 - 20'000);
}

TEST(DiffMeaning, ANameAroundEverythingSaysTooLittle) {
  const auto marked = [](MadeCall call) {
    call.mark = "train";
    return call;
  };
  const Diffed diffed = diff_events(made_step({marked({.op = "aten::lerp_", .kernel = "lerp_kernel"})}),
                                    made_step({marked({.op = "mylib::ema", .kernel = "ema_kernel"})}));
  ASSERT_EQ(diffed.answer.groups.size(), 2U) << names(diffed);
  for (const Group& group : diffed.answer.groups) EXPECT_FALSE(group.match.has_value()) << group.name;
}

TEST(DiffMeaning, NamesOfSteps) {
  EXPECT_EQ(diff::step_name("Optimizer.step#AdamW.step"), "optimizer step");
  EXPECT_EQ(diff::step_name("Optimizer.zero_grad#SGD.zero_grad"), "optimizer zero_grad");
  EXPECT_EQ(diff::step_name("loss_12"), "loss");
  for (const char* mark :
       {"ProfilerStep#3", "## Call CompiledFxGraph abc ##", "Torch-Compiled Region: 0/0", "nccl:all_reduce", "42"})
    EXPECT_EQ(diff::step_name(mark), "") << mark;
}

// ---- eager against compiled
// -------------------------------------------------------------------------------------------------------

constexpr MadeCall kEagerRelu{.op = "aten::relu", .kernel = "relu_kernel", .dims = "[[64, 64]]"};
constexpr MadeCall kCompiledRelu{.op = "triton_poi_fused_relu_0", .kernel = "triton_poi_fused_relu_0", .dims = "[[64, 64]]"};

TEST(DiffMeaning, APaddedProductIsMatchedByItsPlace) {
  const auto mm = [](std::string_view kernel, std::string_view dims) {
    return MadeCall{.op = "aten::mm", .kernel = kernel, .dims = dims};
  };
  const auto same = mm("sm90_xmma_gemm_f32", "[[64, 64], [64, 64]]");
  const auto small = mm("gemmSN_NN_kernel", "[[16, 3], [3, 768]]");
  const auto padded = mm("nvjet_sm90_tst_64x8_64x16_4x2_h_bz_NNT", "[[16, 8], [8, 768]]");
  const Diffed diffed = diff_events(made_step({same, kEagerRelu, small}), made_step({same, kCompiledRelu, padded}));
  for (const Group& group : diffed.answer.groups) EXPECT_TRUE(group.match.has_value()) << group.name;
  // Behind another product it is another.
  const Diffed moved = diff_events(made_step({same, kEagerRelu, small}), made_step({padded, kCompiledRelu, same}));
  EXPECT_EQ(moved.groups_where([](const Group& g) { return !g.match; }).size(), 2U) << names(moved);
}

TEST(DiffMeaning, ActivationsComputedAgainBelongToTheirOp) {
  const MadeCall silu{.op = "aten::silu", .kernel = "silu_kernel", .dims = "[[8, 128]]"};
  const MadeCall generated{
      .op = "triton_poi_fused_silu_0", .kernel = "triton_poi_fused_silu_0", .dims = "[[8, 128], [8, 128]]"};
  MadeCall again = generated, other = generated;
  again.around = other.around = "CompiledFunctionBackward";
  other.dims = "[[9, 129], [9, 129]]";
  const Diffed diffed = diff_events(made_step({silu}), made_step({generated, again}));
  ASSERT_EQ(diffed.answer.groups.size(), 1U) << names(diffed);
  EXPECT_EQ(diffed.answer.groups[0].match, Match::fused);
  EXPECT_TRUE(diffed.answer.groups[0].recomputed);
  EXPECT_EQ(diffed.answer.groups[0].sides[1].positions.size(), 2U);
  const Diffed apart = diff_events(made_step({silu}), made_step({generated, other}));  // of another shape
  EXPECT_EQ(apart.groups_where([](const Group& g) { return !g.match; }).size(), 1U) << names(apart);
}

TEST(DiffMeaning, NamesThatCompilersTakeApart) {
  for (const char* op :
       {"aten::argsort", "aten::embedding_bag", "aten::_scaled_dot_product_attention_math", "aten::nll_loss2d"})
    EXPECT_TRUE(diff::is_composite(op)) << op;
  EXPECT_FALSE(diff::is_composite("aten::sort"));
  EXPECT_EQ(diff::canonical_op("aten::_index_put_impl_"), diff::canonical_op("index_put"));
  EXPECT_EQ(diff::canonical_op("aten::upsample_bilinear2d"), diff::canonical_op("_unsafe_index"));
  EXPECT_NE(diff::canonical_op("aten::index"), diff::canonical_op("aten::index_put_"));
  EXPECT_EQ(diff::listed_op(diff::canonical_op("aten::_foreach_zero_")), diff::canonical_op("aten::zero_"));
  EXPECT_EQ(diff::listed_op("mul"), "");
}

// Eager and compiled code by their ops, and nothing else changed: no op was renamed.
TEST(DiffMeaning, AGeneratedKernelIsNoRenamedOp) {
  const Diffed compiled = diff_events(made_step({kEagerRelu}), made_step({kCompiledRelu}));
  ASSERT_EQ(compiled.answer.groups.size(), 1U);
  EXPECT_TRUE(compiled.answer.groups[0].match.has_value());
  EXPECT_FALSE(compiled.answer.groups[0].renamed);
  MadeCall renamed = kEagerRelu;
  renamed.op = "aten::relu_v2";
  EXPECT_TRUE(diff_events(made_step({kEagerRelu}), made_step({renamed})).answer.groups[0].renamed);
}

// ---- replays
// ----------------------------------------------------------------------------------------------------------------------

const std::vector<MadeCall>& training() {
  static const std::vector<MadeCall> calls = {
      {.op = "aten::linear", .kernel = "sm90_xmma_gemm_f32", .us = 30},
      {.op = "aten::conv2d", .kernel = "cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4", .us = 20},
      {.op = "aten::mul", .kernel = "mul_kernel", .us = 10, .around = "MulBackward0"},
  };
  return calls;
}

TEST(DiffMeaning, AReplayOfAWholeStepIsMatchedWithItsOps) {
  const Diffed diffed = diff_events(made_step(training()), replayed_step(training()));
  ASSERT_EQ(diffed.answer.groups.size(), 3U) << names(diffed);
  for (const Group& group : diffed.answer.groups) EXPECT_EQ(group.match, Match::kernel) << group.name;
  for (const char* name : {"aten::linear", "aten::conv2d", "aten::mul"})
    EXPECT_NE(find(diffed, name), nullptr) << names(diffed);
  EXPECT_TRUE(diffed.groups_where([](const Group& g) { return g.renamed; }).empty());
  for (const Group& group : diffed.answer.groups) EXPECT_EQ(group.phase, "") << group.name;  // the replay does not tell
}

// The name of a convolution's product is any product's: the side that knows the op says what it is.
TEST(DiffMeaning, AKernelIsOfOneCategoryOnBothSides) {
  const Diffed diffed = diff_events(made_step(training()), replayed_step(training()));
  EXPECT_EQ(diffed.answer.sides[0].category_ns, diffed.answer.sides[1].category_ns);
  EXPECT_EQ(diffed.answer.sides[1].category_ns[static_cast<std::size_t>(Category::conv)], 20'000);
  expect_closed(diffed, "replay");
}

// A recording of the device alone, or without ops: the kernels' names are all that both sides tell.
TEST(DiffMeaning, ATraceWithoutOpsIsMatchedByItsKernels) {
  std::vector<MadeCall> calls = training(), bare = calls;
  for (MadeCall& call : bare) call.op = call.around = "";
  for (const auto& [a, b] : {std::pair(calls, bare), std::pair(bare, calls)}) {
    const Diffed diffed = diff_events(made_step(a), made_step(b));
    ASSERT_EQ(diffed.answer.groups.size(), 3U) << names(diffed);
    for (const Group& group : diffed.answer.groups) {
      EXPECT_EQ(group.match, Match::kernel) << group.name;
      EXPECT_EQ(group.changes[1].delta_ns, 0) << group.name;
      EXPECT_EQ(group.phase, "") << group.name;
    }
    EXPECT_EQ(diffed.answer.sides[0].category_ns, diffed.answer.sides[1].category_ns);
    expect_closed(diffed, "without ops");
  }
}

// What a mark tells of one phase says nothing of the others.
TEST(DiffMeaning, ATraceWithoutOpsMayStillMarkTheOptimizer) {
  std::vector<MadeCall> calls = training(), bare;
  calls.push_back({.op = "aten::add_", .kernel = "add_kernel", .us = 5, .mark = "Optimizer.step#SGD.step"});
  bare = calls;
  for (MadeCall& call : bare) call.op = call.around = "";
  const Diffed diffed = diff_events(made_step(calls), made_step(bare));
  EXPECT_EQ(diffed.answer.groups.size(), 4U) << names(diffed);
  for (const Group& group : diffed.answer.groups) EXPECT_EQ(group.match, Match::kernel) << group.name;
}

// An eager run of the same kernels in the trace says which ops a replay hides.
TEST(DiffMeaning, RecoveredOpsNameReplayedKernels) {
  const auto path = test::path_of("cudagraph_with_warmup");
  ASSERT_TRUE(path);
  const Diffed diffed = test::diff_files(*path, *path);
  EXPECT_TRUE(diff::run_mode(diffed.scopes[0]).bare);
  double named = 0, all = 0;
  for (const Group& group : diffed.answer.groups) {
    all += static_cast<double>(group.sides[0].time_ns);
    if (group.name.starts_with("aten::")) named += static_cast<double>(group.sides[0].time_ns);
  }
  EXPECT_GT(named / all, 0.9);
}

}  // namespace
}  // namespace ridge
