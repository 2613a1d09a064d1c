// graph_breaks where Dynamo gave up the function around a loop: what the host does from one compiled call to the next goes.
#include <gtest/gtest.h>

#include "support/compiled_events.h"
#include "support/says.h"
#include "unit/analysis/findings/found.h"

namespace ridge::test {
namespace {

// Three steps of 800 us, each with four calls of one graph, 200 us apart: a kernel of 5 us, launched 30 us behind the call's
// start. `given_up`: they are made from one function that was to be compiled whole; else each was asked for by itself.
std::string loops(bool given_up) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const int at = i * 900;
    text = join({text, event({.name = "ProfilerStep#" + std::to_string(i), .ts = at, .dur = 850, .cat = "user_annotation"})});
    const std::string wrapper = "torch/_dynamo/eval_frame.py(956): compile_wrapper";
    if (given_up) text = join({text, python(wrapper, at + 1, 840)});
    text = join({text, python("model.py(12): forward", at + 2, 838)});
    for (int call = 0; call < 4; ++call) {
      const int start = at + 20 + 200 * call;
      if (!given_up) text = join({text, python(wrapper, start - 5, 100)});
      text = join({text, region("1/0", start, 90), graph_call("a", start + 20, 50),
                   launch(100 * i + call + 1, start + 30, 5, "triton_poi_fused_add_0", start + 40, 5)});
    }
  }
  return text;
}

TEST(GivenUpLoops, CostWhatIsBetweenTheirCompiledCalls) {
  const Found found(load_events(loops(true)));
  const RankedFinding* breaks = found.find("graph_breaks");
  ASSERT_NE(breaks, nullptr) << found.ids();
  EXPECT_TRUE(says(breaks->finding.finding, {"3 graph breaks per iteration"}));
  EXPECT_TRUE(says(breaks->finding.evidence, {"model.py:12 (forward)", "eager"}));
  EXPECT_TRUE(says(breaks->finding.action, {"loop", "whole function"}));
  // From a launch's end to the next launch are 195 us, three times a step of 850; of a stretch that nothing shows 150 us go.
  EXPECT_GT(breaks->savings.saves_pct.value_or(0), 40);
  EXPECT_LT(breaks->savings.saves_pct.value_or(0), 80);
}

TEST(GivenUpLoops, AreNoneWhereEachCallWasAskedFor) {
  const Found found(load_events(loops(false)));
  EXPECT_FALSE(found.has("graph_breaks")) << found.ids();
}

}  // namespace
}  // namespace ridge::test
