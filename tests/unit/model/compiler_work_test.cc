// Whose work a kernel is: the program's or the compiler's.
#include "model/compiler_work.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

// The names of the kernels that are the compiler's own.
std::vector<std::string> compilers(const LoadedTrace& t) {
  std::vector<std::string> names;
  const auto& work = t.trace->of(EventClass::device_work);
  for (std::size_t row = 0; row < work.size(); ++row) {
    if (t.model->compiler_work().holds_work(row)) names.emplace_back(t.trace->text(t.trace->events.name(work[row])));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(CompilerWork, IsLaunchedInAPhaseOnItsThread) {
  const LoadedTrace t = load_events(join({
      event({.name = "entire_frame_compile", .ts = 100, .dur = 100}),
      event({.name = "pass.joint_graph_passes.pass_pattern_0 (dynamo_timed)", .ts = 110, .dur = 50}),
      launch(1, 10, 5, "before", 20, 5),
      launch(2, 150, 5, "timed", 300, 5),  // runs behind the phase: the launch counts
      launch(3, 210, 5, "behind", 310, 5),
      launch(4, 150, 5, "elsewhere", 160, 5, "cudaLaunchKernel", 2),
      event({.name = "CachingAutotuner.benchmark_all_configs", .ts = 400, .dur = 100}),
      launch(5, 450, 5, "tuned", 500, 5),
  }));
  EXPECT_EQ(compilers(t), (Names{"timed", "tuned"}));
  EXPECT_EQ(t.model->autotuning().spans.size(), 1U);
}

// The phase is written twice, and the outer slice is the phase's too.
TEST(CompilerWork, HoldsBothSlicesOfAPhase) {
  const LoadedTrace t = load_events(join({
      event({.name = "inductor_compile", .ts = 0, .dur = 100}),
      event({.name = "inductor_compile_data: fn_name=compile_fx_inner, compile_id=0/0",
             .ts = 1,
             .dur = 0,
             .cat = "user_annotation"}),
      event({.name = "compile_fx_inner (dynamo_timed)", .ts = 2, .dur = 90}),
      event({.name = "aten::mm", .ts = 10, .dur = 5}),
      event({.name = "aten::add", .ts = 200, .dur = 5}),
  }));
  Names names;
  const CallTree& tree = t.model->tree();
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    if (t.model->compiler_work().holds(NodeId{n}) && tree.event_class[n] == EventClass::op)
      names.emplace_back(t.trace->text(t.trace->events.name(tree.event[n])));
  }
  EXPECT_EQ(names, (Names{"inductor_compile", "compile_fx_inner (dynamo_timed)", "aten::mm"}));
}

// A graph that runs while a phase is open runs for the program; what is compiled inside a call of compiled code is compiled all
// the same.
TEST(CompilerWork, OfPhasesAndCompiledCallsTheInnermostDecides) {
  const LoadedTrace t = load_events(join({
      event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 0, .dur = 100}),
      event({.name = "## Call CompiledFxGraph a ##", .ts = 10, .dur = 20}),
      launch(1, 15, 5, "first_run", 40, 5),
      event({.name = "CompiledFunctionBackward", .ts = 200, .dur = 100}),
      event({.name = "backward._backward_impl (dynamo_timed)", .ts = 210, .dur = 50}),
      launch(2, 220, 5, "folded", 230, 5),
      launch(3, 270, 5, "backward", 280, 5),
  }));
  EXPECT_EQ(compilers(t), Names{"folded"});
}

TEST(CompilerWork, IsNotTheWarmUpOfACudaGraph) {
  for (const char* phase : {"CUDAGraphTreeManager.add_function (dynamo_timed)", "CUDAGraphNode.record (dynamo_timed)",
                            "cudagraphify (dynamo_timed)"}) {
    const LoadedTrace t = load_events(join({
        event({.name = "## Call CompiledFxGraph a ##", .ts = 0, .dur = 100}),
        event({.name = phase, .ts = 10, .dur = 80}),
        launch(1, 15, 5, "warm_up", 40, 5),
    }));
    ASSERT_FALSE(t.model->compile_phases().empty());
    EXPECT_EQ(compilers(t), Names{}) << phase;
  }
}

TEST(CompilerWork, OfATraceThatCompilesNothingIsEmpty) {
  const LoadedTrace t = load_events(join({event({.name = "aten::mm", .ts = 0, .dur = 10}), launch(1, 5, 1, "gemm", 10, 5)}));
  EXPECT_TRUE(t.model->compiler_work().node.empty());
  EXPECT_FALSE(t.model->compiler_work().holds_work(0));
}

}  // namespace
}  // namespace ridge::test
