// Flows win over sequence numbers; of equal numbers the last forward op counts.
#include "model/forward_backward.h"

#include <gtest/gtest.h>

#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

std::string flow(char phase, int id, int tid, int ts) {
  return std::string("{\"ph\": \"") + phase + "\", \"id\": " + std::to_string(id) +
         ", \"pid\": 1, \"tid\": " + std::to_string(tid) + ", \"ts\": " + std::to_string(ts) +
         ", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"bp\": \"e\"}";
}

std::string forward_of(const LoadedTrace& t, std::string_view backward) {
  const CallTree& tree = t.model->tree();
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    if (t.trace->text(t.trace->events.name(tree.event[n])) != backward) continue;
    const NodeId forward = t.model->forward_backward().forward_of(NodeId{n});
    return forward == kNoNode ? "none" : std::string(t.trace->text(t.trace->events.name(tree.event[forward.value])));
  }
  return "no such op";
}

TEST(ForwardBackward, FlowsInAnyOrderBeatNumbers) {
  const LoadedTrace t = load_events(join({
      flow('f', 1, 2, 100),
      flow('s', 1, 1, 10),
      event({.name = "A", .ts = 10, .dur = 5, .args = "\"Sequence number\": 7, \"Fwd thread id\": 0"}),
      event({.name = "B", .ts = 20, .dur = 5, .args = "\"Sequence number\": 8, \"Fwd thread id\": 0"}),
      event({.name = "ABackward", .ts = 100, .dur = 5, .args = "\"Sequence number\": 8, \"Fwd thread id\": 1", .tid = 2}),
      event({.name = "BBackward", .ts = 110, .dur = 5, .args = "\"Sequence number\": 8, \"Fwd thread id\": 1", .tid = 2}),
  }));
  EXPECT_EQ(forward_of(t, "ABackward"), "A");
  EXPECT_EQ(forward_of(t, "BBackward"), "B");
  EXPECT_EQ(forward_of(t, "A"), "none");
}

TEST(ForwardBackward, OfEqualNumbersTheLastForwardOpBeforeTheBackward) {
  const LoadedTrace t = load_events(join({
      event({.name = "outer", .ts = 10, .dur = 50, .args = "\"Sequence number\": 7, \"Fwd thread id\": 0"}),
      event({.name = "inner", .ts = 20, .dur = 5, .args = "\"Sequence number\": 7, \"Fwd thread id\": 0"}),
      event({.name = "XBackward", .ts = 100, .dur = 5, .args = "\"Sequence number\": 7, \"Fwd thread id\": 1", .tid = 2}),
      event({.name = "later", .ts = 120, .dur = 5, .args = "\"Sequence number\": 7, \"Fwd thread id\": 0"}),
      event({.name = "YBackward", .ts = 200, .dur = 5, .args = "\"Sequence number\": 9, \"Fwd thread id\": 1", .tid = 2}),
  }));
  EXPECT_EQ(forward_of(t, "XBackward"), "inner");
  EXPECT_EQ(forward_of(t, "YBackward"), "none");
}

}  // namespace
}  // namespace ridge::test
