// StackCosts: what recording Python's stacks cost beyond a price per frame (recorder_cost.cc), where the trace shows it:
//
//  - Each event of the Python recorder walks the variables of the frame that it happens in. The function that Inductor writes
//    for a graph has one for every buffer: of 30 calls in such a function each cost 1 us more, of 250 7 us, of 600 15 us.
//  - Its records are Python objects, and Python collects its garbage once there are many: a thread stands still for
//    milliseconds, in whatever line of Python it happens to be.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

class StackCosts {
 public:
  StackCosts(const Trace& trace, const CallTree& tree);

  // Of each slice directly inside of one with that name.
  std::int64_t inside_ns(StringId name) const { return inside_.empty() ? 0 : inside_[name.value]; }
  // Whether a stretch in which nothing began or ended in this slice is a collection: the code does not take so long as a rule.
  bool is_collection(NodeId slice, std::int64_t ns) const;

 private:
  void find_generated_code();
  void find_collections();

  const Trace& trace_;
  const CallTree& tree_;
  std::vector<std::int32_t> inside_;               // by name; empty: no stacks, or no generated code
  std::unordered_set<std::uint32_t> stand_still_;  // names of frames that stood still for once
};

}  // namespace ridge
