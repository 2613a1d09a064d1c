// RecorderLateness: how much of each wait for a launch is the recorder's doing. Without its cost the host would have been that
// much earlier; earlier waits that this would have shortened have used up their part, and a host that has waited for the device
// has nothing left of it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/host_stalls.h"
#include "model/recorder_cost.h"

namespace ridge {

class RecorderLateness {
 public:
  // Of one device: `threads` (flags, as tree.threads) launch its work; another rank's host is none of them.
  RecorderLateness(const RecorderCosts& costs, const HostStalls& stalls, std::vector<bool> threads, std::int64_t from_ns);

  // Of a wait of `length_ns` for a launch that returned at `launched_ns`. In order of time.
  std::int64_t take(std::int64_t launched_ns, std::int64_t length_ns);

 private:
  const RecorderCosts& costs_;
  std::vector<bool> threads_;
  std::vector<std::int64_t> waits_;  // when these threads had waited for the device
  std::int64_t since_ns_ = 0, used_ns_ = 0;
};

}  // namespace ridge
