// Sums over streams, and the time that the kernels of a device took together.
#include "predict/device_floor.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/interval_set.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr double kInTurns = 0.99;  // of the sum of the kernels, the time in which any ran

}  // namespace

DeviceFloor::DeviceFloor(const StepGraph& graph, const std::vector<bool>& inside, const Replayed& recorded,
                         std::int64_t iterations)
    : graph_(graph), inside_(inside), iterations_(std::max<std::int64_t>(1, iterations)), device_of_(graph.lanes.size()) {
  std::unordered_map<std::int64_t, std::size_t> index;
  std::vector<std::vector<Interval>> kernels;
  for (std::size_t i = 0; i < graph_.lanes.size(); ++i) {
    const StepLane& lane = graph_.lanes[i];
    if (!lane.device) continue;
    device_of_[i] = index.try_emplace(lane.device_id, index.size()).first->second;
    kernels.resize(index.size());
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (inside_[node] && graph_.kind[node] == StepKind::kernel)
        kernels[device_of_[i]].push_back({recorded.start_ns[node], recorded.end_ns[node]});
    }
  }
  for (std::vector<Interval>& of_device : kernels) {
    std::int64_t sum = 0;
    for (const Interval& kernel : of_device) saturating_add(&sum, kernel.length());
    kernels_ns_.push_back(IntervalSet(std::move(of_device)).length());
    in_turns_.push_back(static_cast<double>(kernels_ns_.back()) >= kInTurns * static_cast<double>(sum));
  }
}

std::int64_t DeviceFloor::least_ns(const StepTimes& times, double besides) const {
  std::int64_t most = 0;
  std::vector<std::int64_t> kernels = kernels_ns_;
  for (std::size_t i = 0; i < graph_.lanes.size(); ++i) {
    const StepLane& lane = graph_.lanes[i];
    if (!lane.device) continue;
    std::int64_t stream = 0;
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (!inside_[node]) continue;
      const std::int64_t shorter = std::max<std::int64_t>(0, graph_.duration_ns[node] - times.duration_ns[node]);
      // All of it at most: a damaged trace may have kernels of years.
      const double more = std::min(besides * static_cast<double>(shorter), static_cast<double>(times.duration_ns[node]));
      const std::int64_t takes = std::max<std::int64_t>(0, times.duration_ns[node] - static_cast<std::int64_t>(more));
      // Work of one stream may overlap too.
      const std::int64_t gap = node == lane.first ? 0 : times.gap_ns[node - graph_.first_device];
      saturating_add(&stream, std::max<std::int64_t>(0, takes + std::min<std::int64_t>(0, gap)));
      if (graph_.kind[node] != StepKind::kernel) continue;
      const std::size_t device = device_of_[i];
      // What runs beside something else may do so for longer when it takes longer.
      const std::int64_t longer = takes - graph_.duration_ns[node];
      if (longer <= 0 || in_turns_[device]) saturating_add(&kernels[device], longer);
    }
    most = std::max(most, stream);
  }
  for (const std::int64_t ns : kernels) most = std::max(most, ns);
  return most / iterations_;
}

}  // namespace ridge
