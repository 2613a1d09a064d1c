// LaunchLinks: which call launched each kernel, copy and set, and which op that call belongs to.
//
// Device work to launch: by `correlation`; ac2g flows where that fails. Launch to op: the op of the work's External id when it
// encloses the launch on its thread, else the innermost enclosing op. Work launched before the window has no launch and is
// named so. Work that has no correlation at all belongs to the op of its External id.
#pragma once

#include <cstdint>
#include <vector>

#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

enum class LinkState : std::uint8_t {
  op,             // launched by an op
  no_op,          // launched in the window, under no op
  before_window,  // its launch was not recorded
};

// All by row of trace.of(EventClass::device_work).
struct LaunchLinks {
  std::vector<NodeId> launch;  // the runtime or driver call; kNoNode when not recorded
  std::vector<NodeId> op;      // the op; kNoNode when there is none
  // Queued before the recording began: without a launch, ahead of the first work of its stream that has one. Left from an
  // iteration that the trace does not hold. Empty when there is no such work.
  std::vector<bool> inherited;

  bool is_inherited(std::size_t row) const { return !inherited.empty() && inherited[row]; }
  LinkState state(std::size_t row) const {
    if (op[row] != kNoNode) return LinkState::op;
    return launch[row] == kNoNode ? LinkState::before_window : LinkState::no_op;
  }
};

// The launch of each row by `correlation` alone, as an event; kNoEvent when there is none. Needs no tree.
std::vector<EventId> find_launches(const Trace& trace);

LaunchLinks build_launch_links(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of,
                               const std::vector<EventId>& launches);

}  // namespace ridge
