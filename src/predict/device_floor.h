// DeviceFloor: what the devices need for a step, however early its work is launched. A stream works off one piece behind the
// other; kernels of several streams share one device, so that those which did not run side by side in the recording are not
// taken to do so because the host is faster, or they take longer. Copies and collectives may come to lie beside kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/replay.h"
#include "predict/step_graph.h"

namespace ridge {

class DeviceFloor {
 public:
  // `inside`: by node, what the iterations do, kept by who makes this; `recorded`: the replay as recorded.
  DeviceFloor(const StepGraph& graph, const std::vector<bool>& inside, const Replayed& recorded, std::int64_t iterations);

  // No step is shorter. `besides`: of work that a change makes shorter, so much of what it saves may come on top.
  std::int64_t least_ns(const StepTimes& times, double besides = 0) const;

 private:
  const StepGraph& graph_;
  const std::vector<bool>& inside_;
  std::int64_t iterations_;
  std::vector<std::size_t> device_of_;    // by lane; of a host thread meaningless
  std::vector<std::int64_t> kernels_ns_;  // by device, of the recorded iterations: while any kernel ran
  std::vector<bool> in_turns_;            // by device: none of them ran beside another
};

}  // namespace ridge
