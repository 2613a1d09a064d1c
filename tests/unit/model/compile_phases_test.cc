// Phases that are written twice are one; older traces have timed annotations only.
#include "model/compile_phases.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

TEST(CompilePhases, BareAndTimedAreOnePhase) {
  const LoadedTrace t = load_events(join({
      event({.name = "entire_frame_compile", .ts = 0, .dur = 100}),
      event({.name = "entire_frame_compile_data: fn_name=_compile.compile_inner, compile_id=2/1",
             .ts = 1,
             .dur = 0,
             .cat = "user_annotation"}),
      event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 2, .dur = 90}),
      event({.name = "gc", .ts = 10, .dur = 20}),
      event({.name = "gc (dynamo_timed)", .ts = 11, .dur = 18}),
      event({.name = "gc (dynamo_timed)", .ts = 12, .dur = 5}),  // a second one inside the first is a phase of its own
      event({.name = "aten::add", .ts = 40, .dur = 5}),
  }));
  const CompilePhases& phases = t.model->compile_phases();
  ASSERT_EQ(phases.phases.size(), 3U);
  EXPECT_EQ(phases.phases[0].key, "_compile.compile_inner");
  EXPECT_EQ(t.model->tree().duration_ns(phases.phases[0].node), 90'000);
  EXPECT_EQ(phases.phases[1].key, "gc");
  EXPECT_EQ(t.model->tree().duration_ns(phases.phases[1].node), 18'000);
  EXPECT_EQ(phases.phases[1].parent, 0U);
  EXPECT_EQ(phases.phases[2].parent, 1U);
  for (const CompilePhase& phase : phases.phases) EXPECT_EQ(text_of(phase.id), "2/1");
  EXPECT_EQ(phases.of_thread[0].length(), 90'000);
}

TEST(CompilePhases, OlderTracesHaveTimedAnnotationsOnly) {
  const LoadedTrace t = load_events(join({
      event({.name = "compile_inner (dynamo_timed)", .ts = 0, .dur = 100, .cat = "user_annotation"}),
      event({.name = "call_user_compiler (dynamo_timed)", .ts = 10, .dur = 50, .cat = "user_annotation"}),
  }));
  ASSERT_EQ(t.model->compile_phases().phases.size(), 2U);
  EXPECT_EQ(t.model->compile_phases().phases[1].parent, 0U);
}

TEST(CompilePhases, NoneWithoutACompiler) {
  EXPECT_TRUE(load_events(event({.name = "gc", .ts = 0, .dur = 1})).model->compile_phases().empty());
}

}  // namespace
}  // namespace ridge::test
