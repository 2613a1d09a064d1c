// Cost since the host last waited, less what was taken of it.
#include "model/recorder_lateness.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ridge {

RecorderLateness::RecorderLateness(const RecorderCosts& costs, const HostStalls& stalls, std::vector<bool> threads,
                                   std::int64_t from_ns)
    : costs_(costs), threads_(std::move(threads)), since_ns_(from_ns) {
  for (std::size_t t = 0; t < stalls.of_thread.size(); ++t) {
    if (!threads_[t]) continue;
    for (const HostStall& stall : stalls.of_thread[t]) {
      if (stall.cause == IdleCause::sync || stall.cause == IdleCause::copy_wait) waits_.push_back(stall.end_ns);
    }
  }
  std::sort(waits_.begin(), waits_.end());
}

std::int64_t RecorderLateness::take(std::int64_t launched_ns, std::int64_t length_ns) {
  const auto next = std::upper_bound(waits_.begin(), waits_.end(), launched_ns);
  if (next != waits_.begin() && *std::prev(next) > since_ns_) {
    since_ns_ = *std::prev(next);
    used_ns_ = 0;
  }
  const std::int64_t share = std::clamp<std::int64_t>(costs_.between(threads_, since_ns_, launched_ns) - used_ns_, 0,
                                                      std::max<std::int64_t>(0, length_ns));
  used_ns_ += share;
  return share;
}

}  // namespace ridge
