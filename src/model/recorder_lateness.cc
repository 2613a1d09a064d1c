// Cost since the host last waited, less what was taken of it.
#include "model/recorder_lateness.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/work_count.h"

namespace ridge {

LaunchingHost::LaunchingHost(const RecorderCosts& costs, const HostStalls& stalls, std::vector<bool> threads)
    : threads_(std::move(threads)) {
  std::vector<std::pair<std::int64_t, std::int64_t>> stretches;  // end, cost
  for (std::size_t t = 0; t < costs.of_thread.size(); ++t) {
    if (!threads_[t]) continue;
    const RecorderCost& cost = costs.of_thread[t];
    count_work(cost.ends().size());
    for (std::size_t i = 1; i < cost.ends().size(); ++i)
      stretches.emplace_back(cost.ends()[i], cost.sums()[i] - cost.sums()[i - 1]);
  }
  if (!std::is_sorted(stretches.begin(), stretches.end())) std::sort(stretches.begin(), stretches.end());
  std::int64_t sum = 0;
  for (const auto& [end, cost] : stretches) {
    ends_.push_back(end);
    sums_.push_back(sum += cost);
  }
  for (std::size_t t = 0; t < stalls.of_thread.size(); ++t) {
    if (!threads_[t]) continue;
    for (const HostStall& stall : stalls.of_thread[t]) {
      if (stall.cause == IdleCause::sync || stall.cause == IdleCause::copy_wait) waits_.push_back(stall.end_ns);
    }
  }
  std::sort(waits_.begin(), waits_.end());
}

std::int64_t LaunchingHost::cost_until(std::int64_t time_ns) const {
  const auto behind = std::upper_bound(ends_.begin(), ends_.end(), time_ns) - ends_.begin();
  return behind == 0 ? 0 : sums_[static_cast<std::size_t>(behind) - 1];
}

std::int64_t LaunchingHost::waited_until(std::int64_t time_ns) const {
  const auto next = std::upper_bound(waits_.begin(), waits_.end(), time_ns);
  return next == waits_.begin() ? INT64_MIN : *std::prev(next);
}

std::int64_t RecorderLateness::take(std::int64_t launched_ns, std::int64_t length_ns) {
  if (const std::int64_t waited_ns = host_.waited_until(launched_ns); waited_ns > since_ns_) {
    since_ns_ = waited_ns;
    used_ns_ = 0;
  }
  const std::int64_t share = std::clamp<std::int64_t>(host_.cost_until(launched_ns) - host_.cost_until(since_ns_) - used_ns_, 0,
                                                      std::max<std::int64_t>(0, length_ns));
  used_ns_ += share;
  return share;
}

}  // namespace ridge
