// ForwardBackward: which forward op each backward op belongs to. By fwdbwd flows; by sequence number where there is none.
#pragma once

#include <vector>

#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

struct ForwardBackward {
  struct Link {
    NodeId backward;
    NodeId forward;
  };
  std::vector<Link> links;  // in order of `backward`, one each

  // kNoNode when the op is no backward op, or its forward op was not recorded.
  NodeId forward_of(NodeId backward) const;
};

ForwardBackward build_forward_backward(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of);

}  // namespace ridge
