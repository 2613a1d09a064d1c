// Softmax: kernels that pass over their row several times, a block for each row, and how many rows the device has in work.
#include <algorithm>
#include <cmath>

#include "cost/call_parts.h"

namespace ridge {

// Small rows stay in registers or shared memory (other kernels, one pass). The trace tells no occupancy: as many blocks as the threads of a
// multiprocessor allow, on the 132 of an H100 or H200.
void tell_softmax(CallParts& c) {
  constexpr double kMultiprocessors = 132, kThreads = 2048;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const CallLaunch& launch = c.launches[i];
    const bool passes = launch.kernel.find("cunn_SoftMaxForward<") != std::string_view::npos ||
                        launch.kernel.find("cunn_SoftMaxBackward<") != std::string_view::npos;
    const double threads = volume(launch.block);
    if (!passes || threads <= 0) continue;
    c.parts[i].rows_in_flight = std::min(volume(launch.grid), kMultiprocessors * std::floor(kThreads / threads));
  }
}

}  // namespace ridge
