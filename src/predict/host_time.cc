// Shares are gathered first and applied once, so that several stretches of one node count alike.
#include "predict/host_time.h"

#include <algorithm>
#include <cmath>

namespace ridge {

HostTime::HostTime(const StepGraph& graph, StepTimes* times)
    : graph_(graph), times_(*times), removed_(graph.first_device, 0.0F) {
  for (std::uint32_t lane = 0; lane < graph.lanes.size() && !graph.lanes[lane].device; ++lane) {
    const std::uint32_t thread = graph.lanes[lane].thread;
    if (lane_of_.size() <= thread) lane_of_.resize(thread + 1, StepGraph::kNone);
    lane_of_[thread] = lane;
  }
}

const StepLane* HostTime::lane_of(std::uint32_t thread) const {
  const bool known = thread < lane_of_.size() && lane_of_[thread] != StepGraph::kNone;
  return known ? &graph_.lanes[lane_of_[thread]] : nullptr;
}

template <class F>
void HostTime::for_each_part(const StepLane& lane, Interval time, F f) const {
  const std::uint32_t first = graph_.node_at(lane, time.start_ns);
  for (std::uint32_t node = first == StepGraph::kNone ? lane.first : first; node < lane.first + lane.count; ++node) {
    const std::int64_t start = graph_.start_ns[node], end = graph_.recorded_end_ns(node);
    if (start >= time.end_ns) break;
    const std::int64_t inside = std::min(end, time.end_ns) - std::max(start, time.start_ns);
    if (inside <= 0 || graph_.kind[node] == StepKind::wait) continue;
    f(node, static_cast<double>(inside) / static_cast<double>(end - start));
  }
}

void HostTime::shrink(const StepLane& lane, Interval time, double share) {
  for_each_part(lane, time, [&](std::uint32_t node, double part) { removed_[node] += static_cast<float>(share * part); });
}

void HostTime::shrink_by(const StepLane& lane, Interval time, std::int64_t less_ns) {
  double own_ns = 0;
  for_each_part(lane, time,
                [&](std::uint32_t node, double part) { own_ns += part * static_cast<double>(times_.duration_ns[node]); });
  if (own_ns > 0) shrink(lane, time, std::min(1.0, static_cast<double>(less_ns) / own_ns));
}

void HostTime::add(const StepLane& lane, std::int64_t time_ns, std::int64_t more_ns) {
  std::uint32_t node = graph_.node_at(lane, time_ns);
  if (node == StepGraph::kNone) node = lane.first;
  while (graph_.kind[node] == StepKind::wait && node + 1 < lane.first + lane.count) ++node;
  times_.duration_ns[node] = std::max<std::int64_t>(0, times_.duration_ns[node] + more_ns);
}

void HostTime::apply() {
  for (std::uint32_t node = 0; node < removed_.size(); ++node) {
    if (removed_[node] == 0.0F) continue;
    const double left = std::clamp(1.0 - static_cast<double>(removed_[node]), 0.0, 1e6);
    times_.duration_ns[node] = std::lround(static_cast<double>(times_.duration_ns[node]) * left);
    removed_[node] = 0.0F;
  }
}

}  // namespace ridge
