// How busy host and devices are over the whole window: the curve behind the minimap, and the unions of time it is made of.
#include <algorithm>

#include "timeline/level_of_detail.h"
#include "timeline/state.h"

namespace ridge {
namespace {

IntervalSet host_time(const CallTree& tree) {
  IntervalSet all;
  for (const HostThread& thread : tree.threads) {
    std::vector<Interval> outer;  // nodes come in order of start: what a slice holds adds nothing
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      const EventClass c = tree.event_class[n];
      if (c != EventClass::op && c != EventClass::launch) continue;
      if (outer.empty() || tree.start_ns[n] > outer.back().end_ns) {
        outer.push_back({tree.start_ns[n], tree.end_ns[n]});
      } else {
        outer.back().end_ns = std::max(outer.back().end_ns, tree.end_ns[n]);
      }
    }
    all = unite(all, IntervalSet(std::move(outer)));
  }
  return all;
}

std::vector<std::uint8_t> curve_of(const IntervalSet& busy, const Grid& grid) {
  std::vector<std::int64_t> covered(static_cast<std::size_t>(grid.count));
  for (const Interval& interval : busy.intervals()) {
    const std::int64_t from = std::max(interval.start_ns, grid.start_ns), to = std::min(interval.end_ns, grid.end_ns());
    for (std::int64_t at = from; at < to;) {
      const std::int64_t bucket = grid.bucket_of(at);
      const std::int64_t until = std::min(to, grid.start_ns + (bucket + 1) * grid.width_ns);
      covered[static_cast<std::size_t>(bucket)] += until - at;
      at = until;
    }
  }
  std::vector<std::uint8_t> curve;
  curve.reserve(covered.size());
  for (const std::int64_t ns : covered) curve.push_back(share_of(ns, grid.width_ns));
  return curve;
}

}  // namespace

const BusySets& Timeline::State::busy() {
  return busy_once.get([&] {
    BusySets sets;
    sets.host = host_time(model.tree());
    for (const Device& device : model.timeline().devices) sets.devices.emplace_back(device.id, busy_time(device, window()));
    return sets;
  });
}

Result<BusyCurve> Timeline::busy(std::uint32_t px) const {
  const Threads::Use use(state_->threads.get());
  if (px < 1 || px > kMostPixels) return fail(ErrorCode::usage, "'px' must be 1 to 8192");
  const TimeRange window = state_->window();
  BusyCurve out;
  if (window.duration_ns() <= 0) return out;
  // Here nothing pans: exactly as many buckets as asked, or one per ns.
  Grid grid{window.start_ns, (window.duration_ns() + px - 1) / px, 0};
  grid.count = (window.duration_ns() + grid.width_ns - 1) / grid.width_ns;
  out.bucket_ns = grid.width_ns;
  out.host = curve_of(state_->busy().host, grid);
  for (const auto& [device, busy] : state_->busy().devices) out.devices.emplace_back(device, curve_of(busy, grid));
  return out;
}

}  // namespace ridge
