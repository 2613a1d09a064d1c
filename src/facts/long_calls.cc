// One pass over the call tree collects the calls; a question searches those of its thread.
#include "facts/long_calls.h"

#include <algorithm>
#include <iterator>

namespace ridge {

LongCalls::LongCalls(const CallTree& tree) : tree_(tree) {
  for (const HostThread& thread : tree.threads) {
    const std::uint32_t end = thread.first + thread.count;
    for (std::uint32_t n = thread.first; n < end; ++n) {
      if (tree.event_class[n] != EventClass::launch || tree.end_ns[n] - tree.start_ns[n] < kLongCallNs) continue;
      const bool holds_others = n + 1 < end && tree.parent[n + 1] == NodeId{n};
      if (!holds_others) calls_.push_back(NodeId{n});
    }
  }
}

LongCalls::Part LongCalls::within(NodeId node, Interval time) const {
  Part part;
  if (node == kNoNode || calls_.empty()) return part;
  const HostThread& thread = tree_.threads[thread_of(tree_, node)];
  auto call = std::partition_point(calls_.begin(), calls_.end(), [&](NodeId n) {
    return n.value < thread.first || (n.value < thread.first + thread.count && tree_.end_ns[n.value] <= time.start_ns);
  });
  std::int64_t most = 0;
  for (; call != calls_.end() && call->value < thread.first + thread.count; ++call) {
    const std::int64_t shared =
        std::min(time.end_ns, tree_.end_ns[call->value]) - std::max(time.start_ns, tree_.start_ns[call->value]);
    if (shared <= 0) break;
    part.ns += shared;
    if (shared <= most) continue;
    most = shared;
    part.longest = *call;
  }
  return part;
}

}  // namespace ridge
