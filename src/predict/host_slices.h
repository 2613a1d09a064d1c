// A stretch of a thread's time, cut by the innermost slice that was open.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/interval_set.h"
#include "model/call_tree.h"

namespace ridge {

// Calls f(innermost slice or kNoNode, ns) from the start of `time` to its end. Linear in the slices that start in it.
template <class F>
void for_each_slice(const CallTree& tree, const HostThread& thread, Interval time, F f) {
  NodeId open = tree.innermost_at(thread, time.start_ns);
  std::int64_t at = time.start_ns;
  const auto until = [&](std::int64_t next) {
    while (at < next) {
      const std::int64_t end = open == kNoNode ? next : std::min(next, tree.end_ns[open.value]);
      if (end > at) f(open, end - at);
      at = std::max(at, end);
      if (open != kNoNode && tree.end_ns[open.value] <= at) open = tree.parent[open.value];
    }
  };
  const auto begin = tree.start_ns.begin() + thread.first, end = begin + thread.count;
  for (auto it = std::upper_bound(begin, end, time.start_ns); it != end && *it < time.end_ns; ++it) {
    until(*it);
    open = NodeId{static_cast<std::uint32_t>(it - tree.start_ns.begin())};
  }
  until(time.end_ns);
}

}  // namespace ridge
