// Ids by release, backward calls, and cache lookups with what followed them.
#include "model/compiled_regions.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

std::vector<std::string> ids(const CompiledRegions& regions) {
  std::vector<std::string> list;
  for (const CompiledCall& call : regions.calls) list.push_back(text_of(call.id));
  return list;
}

TEST(CompiledRegions, IdsByNameAndByContext) {
  const LoadedTrace t = load_events(join({
      event({.name = "Torch-Compiled Region: 3/1", .ts = 0, .dur = 5}),
      event({.name = "Torch-Compiled Region", .ts = 10, .dur = 5, .args = "\"context\": \"4/0\""}),
      event({.name = "Torch-Compiled Region", .ts = 20, .dur = 5}),
      event({.name = "Torch-Compiled Regionals", .ts = 30, .dur = 5}),
  }));
  EXPECT_EQ(ids(t.model->compiled_regions()), (std::vector<std::string>{"3/1", "4/0", ""}));
}

TEST(CompiledRegions, BackwardBelongsToTheForwardsRegion) {
  const LoadedTrace t = load_events(join({
      event({.name = "Torch-Compiled Region: 3/1", .ts = 0, .dur = 50}),
      event({.name = "CompiledFunction", .ts = 10, .dur = 30, .args = "\"Sequence number\": 7, \"Fwd thread id\": 0"}),
      event({.name = "## Call CompiledFxGraph fwd ##", .ts = 15, .dur = 20, .cat = "user_annotation"}),
      event({.name = "CompiledFunctionBackward",
             .ts = 100,
             .dur = 30,
             .args = "\"Sequence number\": 7, \"Fwd thread id\": 1",
             .tid = 0}),
      event({.name = "## Call CompiledFxGraph bwd ##", .ts = 110, .dur = 10, .tid = 0}),
  }));
  const CompiledRegions& regions = t.model->compiled_regions();
  ASSERT_EQ(regions.calls.size(), 5U);
  for (const CompiledCall& call : regions.calls) {
    EXPECT_EQ(text_of(call.id), "3/1");
    EXPECT_EQ(call.backward, t.trace->events.ts_ns(t.model->tree().event[call.node.value]) >= 100'000);
  }
}

// Held against the walk up from each node.
TEST(CompiledRegions, TheInnermostCallAroundEachNode) {
  const LoadedTrace t = load_events(join({
      event({.name = "aten::before", .ts = 0, .dur = 5}),
      event({.name = "outside", .ts = 10, .dur = 200, .cat = "python_function"}),
      event({.name = "Torch-Compiled Region: 0/0", .ts = 20, .dur = 100}),
      event({.name = "aten::first", .ts = 22, .dur = 2}),
      event({.name = "CompiledFunction", .ts = 30, .dur = 50}),
      event({.name = "## Call CompiledFxGraph key ##", .ts = 40, .dur = 10, .cat = "user_annotation"}),
      event({.name = "aten::mm", .ts = 42, .dur = 2}),
      event({.name = "aten::behind", .ts = 60, .dur = 5}),
      event({.name = "Torch-Compiled Region: 0/1", .ts = 90, .dur = 10}),
      event({.name = "Torch-Compiled Region: 0/2", .ts = 100, .dur = 10}),
      event({.name = "aten::last", .ts = 115, .dur = 2}),
      event({.name = "aten::after", .ts = 130, .dur = 5}),
      event({.name = "aten::elsewhere", .ts = 50, .dur = 5, .tid = 2}),
      event({.name = "Torch-Compiled Region: 1/0", .ts = 70, .dur = 10, .tid = 2}),
      event({.name = "aten::end", .ts = 72, .dur = 5, .tid = 2}),
  }));
  const CallTree& tree = t.model->tree();
  const CompiledRegions& regions = t.model->compiled_regions();
  ASSERT_EQ(regions.calls.size(), 6U);
  EXPECT_EQ(regions.call_at(kNoNode), kNoCall);
  std::size_t inside = 0;
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    std::uint32_t around = kNoCall;
    for (NodeId at{n}; at != kNoNode && around == kNoCall; at = tree.parent[at.value]) {
      for (std::uint32_t call = 0; call < regions.calls.size(); ++call) {
        if (regions.calls[call].node == at) around = call;
      }
    }
    inside += around != kNoCall;
    EXPECT_EQ(regions.call_at(NodeId{n}), around) << t.trace->text(t.trace->events.name(tree.event[n]));
  }
  EXPECT_EQ(inside, 11U);
}

TEST(CompiledRegions, NoCallsNoStretches) {
  const LoadedTrace t = load_events(join({event({.name = "aten::mm", .ts = 0, .dur = 5})}));
  EXPECT_TRUE(t.model->compiled_regions().stretches.empty());
  EXPECT_EQ(t.model->compiled_regions().call_at(NodeId{0U}), kNoCall);
}

TEST(CompiledRegions, LookupsAndWhatFollowed) {
  const auto lookup = [](int ts) { return event({.name = "TorchDynamo Cache Lookup", .ts = ts, .dur = 1}); };
  const LoadedTrace t = load_events(join({
      lookup(0), event({.name = "Torch-Compiled Region: 0/0", .ts = 2, .dur = 5}),  // hit
      lookup(10),                                                                   // runs eager
      lookup(20), event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 30, .dur = 20}),
      lookup(35),                                                                                // the compiler's own
      event({.name = "Torch-Compiled Region: 0/1", .ts = 60, .dur = 5}),                         // compiled
      lookup(70), event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 72, .dur = 5}),  // nothing to run
  }));
  std::vector<LookupOutcome> outcomes;
  for (const CacheLookup& l : t.model->compiled_regions().lookups) outcomes.push_back(l.outcome);
  EXPECT_EQ(outcomes, (std::vector<LookupOutcome>{LookupOutcome::hit, LookupOutcome::not_compiled, LookupOutcome::compiled,
                                                  LookupOutcome::skipped}));
  EXPECT_EQ(t.model->compiled_regions().lookups[2].compile_ns, 20'000);
}

}  // namespace
}  // namespace ridge::test
