// The devices' part of a StepGraph: the work of each stream, and what each piece of it waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "predict/host_lanes.h"
#include "predict/step_graph.h"

namespace ridge {

struct DeviceLanes {
  std::vector<std::uint32_t> of_row;     // by row of trace.of(device_work): its node; kNone when it has none
  std::vector<std::uint32_t> launch_of;  // by node from first_device: the call that launched it; kNone
};

// Adds a lane for each stream, behind the host's.
DeviceLanes add_device_lanes(const Model& model, const HostLanes& host, StepGraph* graph);

// Once the order is known: launches, waits for other streams, and how long each waited for what. `position`: of each node in
// the order. Sets gap_ns and the typical times.
std::vector<PendingEdge> device_edges(const Model& model, const DeviceLanes& lanes, const std::vector<std::uint32_t>& position,
                                      StepGraph* graph);

// A piece of work that waits for one of another stream.
struct StreamWait {
  std::uint32_t node = 0;
  std::uint32_t for_node = 0;
  bool recorded = false;

  auto operator<=>(const StreamWait&) const = default;
};

// As recorded (cuda_sync); where nothing is, from calls of StreamWaitEvent and the order in which work ran. In order of node.
std::vector<StreamWait> find_stream_waits(const Model& model, const DeviceLanes& lanes, const StepGraph& graph);

// What each call waited for. Sets the durations of waits.
std::vector<PendingEdge> host_wait_edges(const Model& model, const HostLanes& host, const DeviceLanes& lanes,
                                         const std::vector<std::uint32_t>& position, StepGraph* graph);

}  // namespace ridge
