// How full a launch makes the device: from its registers, shared memory, block and grid, and the device's limits.
#pragma once

#include <cstdint>
#include <optional>

#include "cost/cost_model.h"
#include "trace/tables.h"

namespace ridge {

struct LaunchOccupancy {
  std::optional<double> pct;              // of the threads that the device holds; unknown is nothing, never 0
  std::optional<double> resident_blocks;  // that the whole device holds at a time
};

// What fits beside each other on a multiprocessor, or the grid's blocks over all of them where these are fewer: the profiler's
// "est. achieved occupancy". The profiler writes 0 for a block of more than 48 KiB of shared memory: its figure stands only
// where it is not 0 and the device's limits are not known.
LaunchOccupancy occupancy_of(const CostModel& costs, const DeviceWorkTable& work, EventId event, std::int64_t device);

}  // namespace ridge
