// Softmax: kernels that pass over their row several times, a block for each row, and how many rows the device has in work.
#include <algorithm>
#include <cmath>

#include "cost/library/call_parts.h"

namespace ridge {

// Small rows stay in registers or shared memory (other kernels, one pass). Along a dimension that is not the last, a block
// takes as many rows side by side as it is high. The trace tells no occupancy: as many blocks as the threads of a
// multiprocessor allow.
void assign_softmax_roles(CallParts& c) {
  const DeviceLimits& device = c.context.device;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const CallLaunch& launch = c.launches[i];
    const auto is = [&](std::string_view kernel) { return launch.kernel.find(kernel) != std::string_view::npos; };
    const bool spatial = is("cunn_SpatialSoftMaxForward<") || is("cunn_SpatialSoftMaxBackward<");
    const double threads = volume(launch.block);
    if ((!spatial && !is("cunn_SoftMaxForward<") && !is("cunn_SoftMaxBackward<")) || threads <= 0) continue;
    const double running = std::min(volume(launch.grid), device.multiprocessors * std::floor(device.threads / threads));
    c.parts[i].edit<SoftmaxPart>().rows_in_flight = running * (spatial ? static_cast<double>(launch.block->y) : 1);
  }
}

}  // namespace ridge
