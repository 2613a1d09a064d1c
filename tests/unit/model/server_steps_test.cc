// A server's marks: what their names say, which launches they hold, and the iterations that they make.
#include "model/server_steps.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::launch;
using test::load_events;

TEST(ServerStep, OfVllm) {
  const auto plain = parse_server_step("execute_context_2(14721)_generation_0(0)");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->stage, Stage::prefill);
  EXPECT_EQ(plain->tokens.context.requests, 2);
  EXPECT_EQ(plain->tokens.context.queries, 14721);
  EXPECT_EQ(plain->tokens.context.keys, -1);  // not told
  const auto squares = parse_server_step("execute_context_1(888_788544)_generation_0(0)");
  ASSERT_TRUE(squares);
  EXPECT_EQ(squares->tokens.context.squares, 788544);
  const auto detailed =
      parse_server_step("execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)");
  ASSERT_TRUE(detailed);
  EXPECT_EQ(detailed->stage, Stage::mixed);
  EXPECT_EQ(detailed->tokens.context,
            (ServerTokens::Sum{.requests = 2, .queries = 6144, .keys = 7144, .pairs = 23019520, .squares = 20971520}));
  EXPECT_EQ(detailed->tokens.generation,
            (ServerTokens::Sum{.requests = 3, .queries = 3, .keys = 6144, .pairs = 6144, .squares = 3}));
}

TEST(ServerStep, OfSglangAndAtom) {
  const auto extend = parse_server_step("step[EXTEND bs=2 toks=14721]");
  ASSERT_TRUE(extend);
  EXPECT_EQ(extend->stage, Stage::prefill);
  EXPECT_EQ(extend->tokens.context.queries, 14721);
  const auto decode = parse_server_step("step[DECODE bs=64 g_sq=64 g_sqsq=64 g_sqsk=131072 g_sk=131072]");
  ASSERT_TRUE(decode);
  EXPECT_EQ(decode->stage, Stage::decode);
  EXPECT_EQ(decode->tokens.generation.keys, 131072);
  EXPECT_EQ(parse_server_step("step[DECODE bs=32]")->tokens.generation.queries, 32);
  const auto mixed =
      parse_server_step("step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->stage, Stage::mixed);
  EXPECT_EQ(mixed->tokens.context.pairs, 40);
  EXPECT_EQ(mixed->tokens.generation.requests, 1);
  const auto padded = parse_server_step("decode[bs=117/128 tok=117 d=117 sqsq=117 sqsk=262144 sk=262144]");
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->tokens.generation.requests, 117);
  EXPECT_EQ(padded->tokens.generation.keys, 262144);
  EXPECT_EQ(parse_server_step("prefill[bs=2 tok=14721 ctx=[7803, 6918]]")->stage, Stage::prefill);
}

TEST(ServerStep, CapturesHaveAStageAndAreNoSteps) {
  EXPECT_EQ(parse_server_step("capture_32_DECODE")->stage, Stage::decode);
  EXPECT_EQ(parse_server_step("capture_32_FULL")->stage, Stage::none);
  EXPECT_FALSE(is_server_step("capture_32_DECODE"));
  EXPECT_TRUE(is_server_step("step[DECODE bs=32]"));
}

TEST(ServerStep, OtherNamesAreNone) {
  for (const char* name : {"", "execute_", "execute_context_", "execute_context_1(", "execute_context_1(888)",
                           "execute_context_x(1)_generation_0(0)", "execute_context_1(1)_generation_99999999999999999999999(0)",
                           "step", "prefill", "decode[bs=2]", "capture_", "forward"})
    EXPECT_FALSE(parse_server_step(name)) << name;
}

TEST(ServerStep, StageOfAKernelOfAttention) {
  EXPECT_EQ(stage_of_kernel("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext"),
            Stage::prefill);
  EXPECT_EQ(stage_of_kernel("void flashinfer::BatchDecodeWithPagedKVCacheKernel<int>(int)"), Stage::decode);
  EXPECT_EQ(stage_of_kernel("kernel_unified_attention_2d"), Stage::none);
}

// A prefill, two steps that make tokens (marked twice, the inner mark telling more), and work outside of any.
test::LoadedTrace server() {
  return load_events(
      join({event({.name = "execute_context_1(100)_generation_0(0)", .ts = 100, .dur = 50, .cat = "user_annotation"}),
            event({.name = "aten::mm", .ts = 110, .dur = 20}), launch(1, 115, 5, "gemm_a", 120, 40),
            event({.name = "step[DECODE bs=2]", .ts = 200, .dur = 60, .cat = "user_annotation"}),
            event({.name = "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk210sqsq2sqsk210)",
                   .ts = 205,
                   .dur = 50,
                   .cat = "user_annotation"}),
            launch(2, 210, 5, "gemm_b", 215, 10),
            event({.name = "step[DECODE bs=2]", .ts = 300, .dur = 60, .cat = "user_annotation"}),
            launch(3, 310, 5, "gemm_b", 315, 10), launch(4, 400, 5, "sample", 405, 10)}));
}

TEST(ServerSteps, HoldWhatTheyLaunch) {
  const auto loaded = server();
  const ServerSteps steps = build_server_steps(*loaded.trace, loaded.model->tree());
  const auto& launches = loaded.model->links().launch;
  ASSERT_EQ(launches.size(), 4U);
  std::vector<Stage> stages;
  for (const NodeId n : launches) stages.push_back(steps.stage_of(n));
  EXPECT_EQ(stages, (std::vector{Stage::prefill, Stage::decode, Stage::decode, Stage::none}));
  EXPECT_EQ(steps.around(launches[1])->tokens.generation.keys, 210);
  EXPECT_EQ(steps.around(launches[2])->tokens.generation.keys, -1);
  EXPECT_EQ(steps.around(launches[3]), nullptr);
}

TEST(ServerSteps, AreIterations) {
  const auto loaded = server();
  const Iterations& iterations = loaded.model->iterations();
  EXPECT_EQ(iterations.rule, IterationRule::server_step);
  ASSERT_EQ(iterations.count(), 3);
  EXPECT_EQ(iterations.list[1].start_ns - iterations.list[0].start_ns, 100000);
  // One ProfilerStep around them all tells less than they do.
  const auto wrapped = load_events(join({event({.name = "ProfilerStep#7", .ts = 0, .dur = 500, .cat = "user_annotation"}),
                                         event({.name = "step[DECODE bs=2]", .ts = 100, .dur = 50, .cat = "user_annotation"}),
                                         launch(1, 110, 5, "gemm_b", 120, 10),
                                         event({.name = "step[DECODE bs=2]", .ts = 200, .dur = 50, .cat = "user_annotation"}),
                                         launch(2, 210, 5, "gemm_b", 220, 10)}));
  EXPECT_EQ(wrapped.model->iterations().count(), 2);
}

TEST(ServerSteps, FramesOfSglangTellTheStageWhereMarksDoNot) {
  const auto loaded = load_events(join({event({.name = "sglang/srt/model_executor/model_runner.py(2041): forward_decode",
                                               .ts = 100,
                                               .dur = 50,
                                               .cat = "python_function"}),
                                        launch(1, 110, 5, "gemm_b", 120, 10)}));
  const ServerSteps steps = build_server_steps(*loaded.trace, loaded.model->tree());
  EXPECT_EQ(steps.stage_of(loaded.model->links().launch[0]), Stage::decode);
}

}  // namespace
}  // namespace ridge
