// RecorderLateness: how much of each wait for a launch is the recorder's doing. Without its cost the host would have been that
// much earlier; earlier waits that this would have shortened have used up their part, and a host that has waited for the device
// has nothing left of it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/host_stalls.h"
#include "model/recorder_cost.h"

namespace ridge {

// What the recorder cost the threads that launch a device's work, and when they had waited for the device. Devices that the
// same threads launch for share it.
class LaunchingHost {
 public:
  // `threads`: flags, as tree.threads; another rank's host is none of them.
  LaunchingHost(const RecorderCosts& costs, const HostStalls& stalls, std::vector<bool> threads);

  const std::vector<bool>& threads() const { return threads_; }
  std::int64_t cost_until(std::int64_t time_ns) const;
  std::int64_t waited_until(std::int64_t time_ns) const;  // the end of the last wait up to a time; INT64_MIN: none

 private:
  std::vector<bool> threads_;
  std::vector<std::int64_t> ends_, sums_;  // the threads' stretches in order of time, and the cost up to there
  std::vector<std::int64_t> waits_;
};

class RecorderLateness {
 public:
  // Of one device, from a time on. The host is not copied.
  RecorderLateness(const LaunchingHost& host, std::int64_t from_ns) : host_(host), since_ns_(from_ns) {}

  // Of a wait of `length_ns` for a launch that returned at `launched_ns`. In order of time.
  std::int64_t take(std::int64_t launched_ns, std::int64_t length_ns);

 private:
  const LaunchingHost& host_;
  std::int64_t since_ns_, used_ns_ = 0;
};

}  // namespace ridge
