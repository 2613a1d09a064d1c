// The host's part of a StepGraph: threads cut into work, launches and waits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "predict/step_graph.h"
#include "predict/thread_handover.h"

namespace ridge {

enum class WaitFor : std::uint8_t { nothing, stream, event, device };
WaitFor waits_for(std::string_view call);

struct PendingEdge {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  std::int64_t lag_ns = 0;
};

// A call that waits for the device.
struct DeviceWait {
  std::uint32_t node = 0;
  WaitFor what = WaitFor::nothing;
  std::uint32_t copy_row = StepGraph::kNone;  // the copy that a blocking call waits for, where it is one
};

struct HostLanes {
  std::vector<DeviceWait> waits;          // in order of node
  std::vector<std::uint32_t> of_call;     // by tree node: the launch node of a call; kNone of all others
  std::vector<PendingEdge> thread_edges;  // handovers and wakes
};

// Adds the lanes to an empty graph.
HostLanes add_host_lanes(const Model& model, StepGraph* graph);

}  // namespace ridge
