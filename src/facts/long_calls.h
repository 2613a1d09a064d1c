// LongCalls: runtime and driver calls that themselves take long. A first use does: the code of a kernel is loaded, a library
// sets itself up. Waits, copies and allocation are not asked for here: they are stalls of their own (model/host_stalls.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "model/call_tree.h"

namespace ridge {

// A launch takes 2 to 20 us, with the profiler on.
inline constexpr std::int64_t kLongCallNs = 100'000;

class LongCalls {
 public:
  explicit LongCalls(const CallTree& tree);

  struct Part {
    std::int64_t ns = 0;
    NodeId longest = kNoNode;  // the call with most of it
    // Whether they are what the time went into.
    bool rules(Interval time) const { return ns * 2 >= time.length(); }
  };
  // What long calls of the thread of `node` took of that time.
  Part within(NodeId node, Interval time) const;

 private:
  const CallTree& tree_;
  std::vector<NodeId> calls_;  // those that hold no other slice, in tree order: of a thread disjoint and ascending
};

}  // namespace ridge
