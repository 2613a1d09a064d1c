// TableCalls: what PyTorch's own table (key_averages) takes for a call, and whose child each call is.
//
// Ops, annotations and runtime or driver calls are calls; a child is what lies right below. A few utility ops are left out, so
// that their time is the caller's own. An op whose only child is an op of the same name (an overload that calls another, a
// dispatch that starts over) is one call with it, and has the inner one's children.
//
// As torch/autograd/profiler_util.py does it (_filter_name, _populate_cpu_children, _remove_dup_nodes), held against recorded
// tables by test. Two things are not followed: requests for buffers by the profiler itself, which a trace ties to no thread,
// are no children (PyTorch has them so, and counts the kernel of the op around them twice), and calls of threads that were not
// profiled are nobody's (PyTorch takes them for the first thread's).
#pragma once

#include <vector>

#include "model/call_tree.h"

namespace ridge {

class TableCalls {
 public:
  TableCalls(const Trace& trace, const CallTree& tree);

  bool is_call(NodeId n) const { return is_call_[n.value]; }
  // Part of the call of the same name around it.
  bool is_merged(NodeId n) const { return is_merged_[n.value]; }
  // The innermost call around a node; kNoNode when there is none.
  NodeId above(NodeId n) const;

 private:
  const CallTree& tree_;
  std::vector<bool> is_call_, is_merged_;
  std::vector<NodeId> at_or_above_;
};

}  // namespace ridge
