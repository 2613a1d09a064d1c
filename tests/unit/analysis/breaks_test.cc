// Graph breaks: hand-made nestings of regions, and recorded programs whose breaks are known from their source.
#include "facts/breaks.h"

#include <map>

#include <gtest/gtest.h>

#include "base/interval_set.h"
#include "support/compiled_events.h"

namespace ridge::test {
namespace {

TEST(Breaks, ResumedFrameInTailPosition) {
  // Parent's graph ends at 30; lookup 2, bytecode 4, prologue 3 and 11 of the frames' own until the resumed graph at 50.
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 100),
      graph_call("a", 10, 20),
      launch(1, 15, 5, "k", 20, 5),
      lookup(34),
      region("1/0", 38, 60),
      event({.name = "Pregraph bytecode", .ts = 40, .dur = 4}),
      event({.name = "AOTDispatcher Runtime Wrapper Prologue", .ts = 45, .dur = 3}),
      graph_call("b", 50, 40),
      launch(2, 60, 5, "k", 66, 5),
  }));
  const Breaks breaks = breaks_of(t);
  EXPECT_EQ(lines(breaks), Lines{"1<0 1"});
  EXPECT_EQ(breaks.breaks[0].cpu_ns, 20'000);
  EXPECT_EQ(breaks.breaks[0].gpu_idle_ns, 20'000);  // in that time; from 25 to 30 and from 50 to 66 the host is in a graph
  EXPECT_EQ(breaks.breaks[0].reason, "");
  EXPECT_EQ(breaks.regions.size(), 2U);
}

TEST(Breaks, AFilterNarrowsRegionsAsItDoesBreaks) {
  const LoadedTrace t = load_events(join({region("0/0", 0, 40), python("model.py(3): forward", 1, 30), graph_call("a", 10, 20),
                                          region("1/0", 50, 40), python("loss.py(7): loss", 51, 30), graph_call("b", 60, 20)}));
  const auto regions = [&](const char* filter) { return compute_breaks(*make_scope(*t.model, {{"filter", filter}})).regions; };
  ASSERT_EQ(regions("model").size(), 1U);
  EXPECT_EQ(regions("model")[0].id.frame, 0);
  EXPECT_TRUE(regions("zzz").empty());
}

TEST(Breaks, IdleIsHiddenWhileWorkIsQueued) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 100),
      graph_call("a", 10, 20),
      launch(1, 15, 5, "long", 20, 60),
      lookup(34),
      region("1/0", 38, 60),
      graph_call("b", 50, 40),
      launch(2, 60, 5, "k", 81, 5),
  }));
  EXPECT_EQ(breaks_of(t).breaks.at(0).gpu_idle_ns, 0);
}

TEST(Breaks, WhatCameBeforeTheBrokenFrameIsNotItsIdle) {
  const LoadedTrace t = load_events(join({
      launch(1, 2, 3, "of another", 6, 4),
      region("0/0", 100, 100),
      graph_call("a", 110, 20),
      lookup(134),
      region("1/0", 138, 60),
      graph_call("b", 150, 40),
      launch(2, 160, 5, "k", 166, 5),
  }));
  EXPECT_EQ(breaks_of(t).breaks.at(0).gpu_idle_ns, 20'000);  // from the end of the graph that launched nothing, at 130
}

TEST(Breaks, CompilationAtItIsNotItsIdle) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 200),
      graph_call("a", 10, 20),
      launch(1, 15, 5, "k", 20, 5),
      event({.name = "async_compile.wait (dynamo_timed)", .ts = 40, .dur = 60}),
      lookup(114),
      region("1/0", 118, 60),
      graph_call("b", 130, 40),
      launch(2, 140, 5, "k", 146, 5),
  }));
  EXPECT_EQ(breaks_of(t).breaks.at(0).gpu_idle_ns, 40'000);  // 30 to 130, less 60
}

// Inside both graphs the host computes: 100 us before the break and 200 behind it, in which the device idles too. The break
// itself takes 20.
TEST(Breaks, WhatTheHostComputesInsideAGraphIsNotItsCost) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 500),
      graph_call("a", 10, 120),
      launch(1, 15, 5, "k", 20, 5),
      lookup(134),
      region("1/0", 138, 350),
      graph_call("b", 150, 300),
      launch(2, 350, 5, "k", 356, 5),
  }));
  const Breaks breaks = breaks_of(t);
  ASSERT_EQ(lines(breaks), Lines{"1<0 1"});
  EXPECT_EQ(breaks.breaks[0].cpu_ns, 20'000);
  EXPECT_EQ(breaks.breaks[0].gpu_idle_ns, 20'000);
}

// PyTorch before 2.9 marks no graphs, only the autograd functions; a CPU kernel that stands at the break is not its cost.
TEST(Breaks, NorIsACpuKernelWhereNoGraphsAreMarked) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 500),
      event({.name = "CompiledFunction", .ts = 10, .dur = 20}),
      launch(1, 15, 5, "k", 20, 5),
      python("/tmp/torchinductor_u/vd/cvdbwtljjoxx5dvzrgbyowp3gozhkggbcfd4ichs27f5el2o2a55.py(88): call", 35, 105),
      python("<built-in function kernel>", 36, 100),
      lookup(144),
      region("1/0", 148, 350),
      event({.name = "CompiledFunction", .ts = 160, .dur = 100}),
      launch(2, 200, 5, "k", 206, 5),
  }));
  EXPECT_EQ(breaks_of(t).breaks.at(0).cpu_ns, 30'000);  // 30 to 160, less 100
  EXPECT_EQ(breaks_of(t).breaks.at(0).gpu_idle_ns, 30'000);
}

// In a training step the backward goes through the same graphs the other way: 50 us from the resumed frame's backward graph to
// the broken one's, of which autograd takes 10 for a gradient, break or not.
TEST(Breaks, TheWayBackCostsToo) {
  const auto sequence = [](std::string_view fwd_thread, int number) {
    return "\"Fwd thread id\": " + std::string(fwd_thread) + ", \"Sequence number\": " + std::to_string(number);
  };
  const auto forward = [&](int number, int ts, int dur) {
    return event({.name = "CompiledFunction", .ts = ts, .dur = dur, .args = sequence("0", number)});
  };
  const auto backward = [&](int number, std::string_view key, int ts) {
    const std::string args = sequence("1", number);
    return join({event({.name = "autograd::engine::evaluate_function: CompiledFunctionBackward",
                        .ts = ts,
                        .dur = 60,
                        .args = args,
                        .tid = 2}),
                 event({.name = "CompiledFunctionBackward", .ts = ts + 1, .dur = 58, .args = args, .tid = 2}),
                 event({.name = "## Call CompiledFxGraph " + std::string(key) + " ##",
                        .ts = ts + 10,
                        .dur = 40,
                        .cat = "user_annotation",
                        .tid = 2})});
  };
  const auto gradient = [](int ts) {
    return event(
        {.name = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", .ts = ts, .dur = 10, .tid = 2});
  };
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 100),
      forward(1, 8, 23),
      graph_call("a", 10, 20),
      lookup(34),
      region("1/0", 38, 60),
      forward(2, 48, 43),
      graph_call("b", 50, 40),
      "{\"ph\": \"s\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"id\": 1, \"pid\": 1, \"tid\": 1, \"ts\": 8}",
      "{\"ph\": \"f\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"id\": 1, \"pid\": 1, \"tid\": 2, \"ts\": 301, \"bp\": "
      "\"e\"}",
      "{\"ph\": \"s\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"id\": 2, \"pid\": 1, \"tid\": 1, \"ts\": 48}",
      "{\"ph\": \"f\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"id\": 2, \"pid\": 1, \"tid\": 2, \"ts\": 211, \"bp\": "
      "\"e\"}",
      backward(2, "bb", 210),
      launch(3, 230, 5, "k", 236, 5, "cudaLaunchKernel", 2),
      gradient(275),
      backward(1, "ba", 300),
      launch(4, 320, 5, "k", 326, 5, "cudaLaunchKernel", 2),
  }));
  const Breaks breaks = breaks_of(t);
  ASSERT_EQ(lines(breaks), Lines{"1<0 1"});
  EXPECT_EQ(breaks.breaks[0].cpu_ns, 20'000 + 40'000);
  EXPECT_EQ(breaks.breaks[0].gpu_idle_ns, 40'000);  // nothing is launched behind the break on the way there
}

// What the frame itself calls between its graph and the resumed one, where stacks tell: the last such call.
TEST(Breaks, ACallThatCannotBeTracedIsTheReason) {
  const auto reason = [](const std::string& between) {
    const LoadedTrace t = load_events(
        join({region("0/0", 0, 100), python("m.py(10): f", 1, 98), python("torch/_dynamo/eval_frame.py(1240): _fn", 8, 24),
              graph_call("a", 10, 20), python("<built-in function set_eval_frame>", 30, 1), between, lookup(54),
              region("1/0", 58, 40), python("m.py(10): torch_dynamo_resume_in_f_at_14", 59, 38), graph_call("b", 60, 20)}));
    return breaks_of(t).breaks.at(0).reason;
  };
  EXPECT_EQ(reason(python("<built-in function print>", 40, 5)), "calls <built-in function print>");
  EXPECT_EQ(reason(python("<built-in method append of list object at 0x7fc33a3fc680>", 40, 5)),
            "calls <built-in method append of list object>");
  EXPECT_EQ(reason(python("torch/_dynamo/decorators.py(600): graph_break", 40, 5)), "torch._dynamo.graph_break()");
  EXPECT_EQ(reason(python("numpy/lib/io.py(12): save", 40, 5)), "calls save (numpy/lib/io.py:12)");
  // Printing a tensor reads it: the call is the reason. A tensor's own method is told by its op.
  const std::string item = event({.name = "aten::item", .ts = 41, .dur = 3});
  EXPECT_EQ(reason(join({python("<built-in function print>", 40, 5), item})), "calls <built-in function print>");
  EXPECT_EQ(reason(join({python("<built-in method item of Tensor object at 0x7fc33d885450>", 40, 5), item})),
            "data-dependent: aten::item");
  // What a callee calls is not the frame's own.
  EXPECT_EQ(reason(join({python("torch/_functorch/aot_autograd.py(1192): forward", 40, 5),
                         python("<built-in function print>", 41, 2)})),
            "");
}

TEST(Breaks, TwoThatWaitForTheSameWorkShareTheIdle) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 200),
      graph_call("a", 10, 20),
      launch(1, 15, 5, "k", 20, 5),
      lookup(34),
      region("1/0", 38, 160),
      graph_call("launches nothing", 50, 20),
      lookup(74),
      region("2/0", 78, 100),
      graph_call("c", 90, 40),
      launch(2, 100, 5, "k", 106, 5),
  }));
  const Breaks breaks = breaks_of(t);
  ASSERT_EQ(lines(breaks), (Lines{"1<0 1", "2<1 1"}));
  EXPECT_EQ(breaks.breaks[0].gpu_idle_ns, 20'000);  // 30 to 50
  EXPECT_EQ(breaks.breaks[1].gpu_idle_ns, 20'000);  // 70 to 90
}

TEST(Breaks, IdleOutsideTheScopeIsNotCounted) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 100),
      graph_call("a", 10, 20),
      launch(1, 15, 5, "k", 20, 5),
      lookup(34),
      region("1/0", 38, 60),
      graph_call("b", 50, 40),
      launch(2, 60, 5, "k", 66, 5),
  }));
  EXPECT_EQ(compute_breaks(*make_scope(*t.model, {{"from", "0.035"}})).breaks.at(0).gpu_idle_ns, 15'000);  // 35 to 50
}

TEST(Breaks, EagerOpsAndCompilationAreNotItsCost) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 300),
      graph_call("a", 10, 20),
      event({.name = "aten::sort", .ts = 32, .dur = 8}),
      event({.name = "aten::empty", .ts = 33, .dur = 2}),
      lookup(44),
      event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 50, .dur = 100}),
      region("1/0", 160, 100),
      graph_call("b", 170, 40),
  }));
  const Breaks breaks = breaks_of(t);
  ASSERT_EQ(lines(breaks), Lines{"1<0 1"});
  EXPECT_EQ(breaks.breaks[0].cpu_ns, 32'000);  // 30 to 170, less 8 and 100
  EXPECT_EQ(breaks.breaks[0].reason, "eager ops: aten::sort");
  EXPECT_TRUE(breaks.recompiles.empty());  // 1/0 is a first compile
}

TEST(Breaks, AWaitForAValueBelongsToIt) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 100),
      graph_call("a", 10, 20),
      event({.name = "aten::item", .ts = 32, .dur = 10}),
      event({.name = "aten::_local_scalar_dense", .ts = 33, .dur = 8}),
      lookup(44),
      region("1/0", 48, 50),
      graph_call("b", 50, 40),
  }));
  const Breaks breaks = breaks_of(t);
  ASSERT_EQ(lines(breaks), Lines{"1<0 1"});
  EXPECT_EQ(breaks.breaks[0].reason, "data-dependent: aten::item");
  EXPECT_EQ(breaks.breaks[0].cpu_ns, 20'000);
}

TEST(Breaks, NotACompiledCallee) {
  for (const std::string& after :
       {event({.name = "aten::add", .ts = 80, .dur = 5}), graph_call("c", 80, 5), launch(1, 80, 5, "k", 90, 5)}) {
    const LoadedTrace t = load_events(join(
        {region("0/0", 0, 100), graph_call("a", 10, 20), lookup(34), region("1/0", 38, 30), graph_call("b", 40, 20), after}));
    EXPECT_EQ(breaks_of(t).occurrences(), 0) << after;
  }
}

TEST(Breaks, OfTwoNestedOnlyTheLastIsResumed) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 200),
      graph_call("a", 10, 20),
      lookup(34),
      region("1/0", 38, 30),
      graph_call("b", 40, 20),
      event({.name = "aten::add", .ts = 80, .dur = 5}),
      lookup(90),
      region("2/0", 94, 100),
      graph_call("c", 100, 20),
  }));
  EXPECT_EQ(lines(breaks_of(t)), Lines{"2<0 1"});
}

TEST(Breaks, NotSiblings) {
  const LoadedTrace t =
      load_events(join({region("0/0", 0, 50), graph_call("a", 10, 20), region("1/0", 60, 50), graph_call("b", 70, 20)}));
  EXPECT_EQ(breaks_of(t).occurrences(), 0);
  EXPECT_EQ(breaks_of(t).regions.size(), 2U);
}

TEST(Breaks, NotTheSameFrameAgain) {
  const LoadedTrace t = load_events(
      join({region("0/0", 0, 100), graph_call("a", 10, 20), lookup(34), region("0/1", 38, 60), graph_call("b", 50, 40)}));
  EXPECT_EQ(breaks_of(t).occurrences(), 0);
}

TEST(Breaks, NotARegionInsideAnOp) {
  const LoadedTrace t = load_events(join({
      region("0/0", 0, 100),
      event({.name = "CompiledFunction", .ts = 10, .dur = 80}),
      lookup(34),
      region("1/0", 38, 40),
      graph_call("b", 50, 20),
  }));
  EXPECT_EQ(breaks_of(t).occurrences(), 0);
}

TEST(Breaks, WithStacksTheFrameDecides) {
  const auto trace = [](std::string_view frame) {
    return load_events(join({region("0/0", 0, 100), python("m.py(10): f", 1, 98), graph_call("a", 10, 20), lookup(34),
                             region("1/0", 38, 50), python(frame, 39, 48), graph_call("b", 50, 20)}));
  };
  const Breaks resumed = breaks_of(trace("m.py(10): torch_dynamo_resume_in_f_at_14"));
  ASSERT_EQ(lines(resumed), Lines{"1<0 1"});
  EXPECT_EQ(resumed.breaks[0].location, "m.py:14 (f)");
  // A compiled callee in tail position looks the same but for its name.
  EXPECT_EQ(breaks_of(trace("m.py(20): g")).occurrences(), 0);
}

TEST(Breaks, RecompileIsNoBreak) {
  const LoadedTrace t = load_events(join({
      lookup(0), region("0/0", 5, 10), lookup(20),
      event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 30, .dur = 100}), region("0/1", 140, 10), lookup(160),
      region("0/2", 165, 10),  // compiled before the window
  }));
  const Breaks breaks = breaks_of(t);
  EXPECT_EQ(breaks.occurrences(), 0);
  ASSERT_EQ(breaks.recompiles.size(), 1U);
  EXPECT_EQ(text_of(breaks.recompiles[0].id), "0/1");
  EXPECT_EQ(breaks.recompiles[0].compile_ns, 100'000);
  EXPECT_EQ(t.model->tree().start_ns[breaks.recompiles[0].node.value], 140'000);  // the region that it was for
}

TEST(Breaks, WithoutIdsByNesting) {
  const auto bare = [](int ts, int dur) { return event({.name = "Torch-Compiled Region", .ts = ts, .dur = dur}); };
  const LoadedTrace t = load_events(
      join({bare(0, 100), event({.name = "aten::mm", .ts = 5, .dur = 5}), bare(20, 70),
            event({.name = "aten::mm", .ts = 25, .dur = 5}), bare(40, 40), event({.name = "aten::mm", .ts = 45, .dur = 5})}));
  const Breaks breaks = breaks_of(t);
  EXPECT_EQ(breaks.breaks.size(), 2U);
  EXPECT_EQ(breaks.occurrences(), 2);
  EXPECT_FALSE(breaks.has_ids);
}

struct Truth {
  const char* trace;
  Lines breaks;
  std::size_t recompiles;
  const char* reason;  // of every break
};

class BreaksOfPrograms : public testing::TestWithParam<Truth> {};

TEST_P(BreaksOfPrograms, AsTheProgramWasWritten) {
  const auto path = path_of(GetParam().trace);
  if (!path) GTEST_SKIP() << "not here: " << GetParam().trace;
  const LoadedTrace t = load_file(*path);
  const Breaks breaks = breaks_of(t);
  EXPECT_EQ(lines(breaks), GetParam().breaks);
  EXPECT_EQ(breaks.recompiles.size(), GetParam().recompiles);
  for (const GraphBreak& b : breaks.breaks) {
    EXPECT_EQ(b.reason, GetParam().reason);
    EXPECT_GT(b.cpu_ns, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traces, BreaksOfPrograms,
    testing::Values(Truth{"graph_breaks", {"1<0 3", "2<1 3", "3<2 3"}, 0, ""},
                    Truth{"graph_breaks_stack", {"1<0 3", "2<1 3", "3<2 3"}, 0, "torch._dynamo.graph_break()"},
                    Truth{"graph_breaks_inference", {"1<0 3", "2<1 3", "3<2 3"}, 0, ""},
                    Truth{"break_datadep_recompile", {"5<4 1", "7<4 3"}, 3, "data-dependent: aten::item"},
                    Truth{"nested_disabled_not_a_plain_break", {"2<0 3"}, 0, "disabled function inner (gen5.py:81)"},
                    Truth{"fault_recompile_in_window", {}, 3, ""}, Truth{"fault_recompile_limit", {}, 0, ""},
                    Truth{"resnet18_compiled_stack_mem", {}, 0, ""}, Truth{"omni_eager_double", {}, 0, ""}),
    [](const auto& p) { return std::string(p.param.trace); });

// Computed apart from the program: of the time between the graphs around each break, forward and backward, less eager ops, what
// the union of the device's work leaves.
TEST(Breaks, IdleBetweenTheGraphsAroundThem) {
  const std::map<std::string, std::vector<std::int64_t>> truths = {
      {"graph_breaks", {1'482'657, 1'151'860, 1'263'418}},
      {"graph_breaks_stack", {1'918'201, 1'624'444, 1'729'963}},
      {"graph_breaks_inference", {248'429, 206'260, 177'473}},
  };
  for (const auto& [name, truth] : truths) {
    const auto path = path_of(name);
    if (!path) continue;
    const LoadedTrace t = load_file(*path);
    std::vector<std::int64_t> idle(3);
    for (const GraphBreak& b : breaks_of(t).breaks) idle.at(static_cast<std::size_t>(b.frame.frame - 1)) = b.gpu_idle_ns;
    EXPECT_EQ(idle, truth) << name;
  }
}

TEST(Breaks, IdleIsPartOfTheDevicesOnce) {
  for (const std::string& path : all_traces()) {
    SCOPED_TRACE(path);
    const LoadedTrace t = load_file(path);
    const Scope scope(*t.model);
    const Breaks breaks = compute_breaks(scope);
    std::int64_t pieces = 0, rows = 0;
    for (const GraphBreak& b : breaks.breaks) {
      rows += b.gpu_idle_ns;
      if (scope.idle()->size() == 1) {
        EXPECT_LE(b.gpu_idle_ns, b.cpu_ns);
      }
    }
    const auto idle_times = scope.idle();
    for (const DeviceIdle& device : *idle_times) {
      std::vector<Interval> gaps, claimed;
      std::int64_t claimed_ns = 0;
      for (const IdleGap& gap : device.gaps) gaps.push_back({gap.start_ns, gap.end_ns});
      for (const BreakIdle& idle : breaks.idle) {
        if (idle.device != device.device) continue;
        claimed.push_back({idle.start_ns, idle.end_ns});
        claimed_ns += idle.end_ns - idle.start_ns;
      }
      const IntervalSet all(std::move(claimed));
      EXPECT_EQ(all.length(), claimed_ns);
      EXPECT_TRUE(subtract(all, IntervalSet(std::move(gaps))).empty());
      pieces += claimed_ns;
    }
    EXPECT_EQ(pieces, rows);
  }
}

TEST(Breaks, LinesOfTheResumedFrames) {
  const auto path = path_of("graph_breaks_stack");
  if (!path) GTEST_SKIP() << "no such trace here";
  const LoadedTrace t = load_file(*path);
  for (const GraphBreak& b : breaks_of(t).breaks) EXPECT_EQ(b.location, "gen_traces.py:95 (forward)");
}

}  // namespace
}  // namespace ridge::test
