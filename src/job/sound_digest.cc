// Every time, count and index, by ranges.
#include "job/sound_digest.h"

#include <algorithm>
#include <cstdlib>

namespace ridge {

std::string_view unsound_part(const Digest& d) {
  constexpr std::int64_t kFurthest = std::int64_t{1} << 61;
  const auto near = [&](std::int64_t t) { return t >= -kFurthest && t <= kFurthest; };
  const auto inside = [&](std::int64_t t) { return near(t) && std::abs(t - d.start_ns) <= kLongestWindowNs; };
  const auto length = [&](std::int64_t t) { return t >= 0 && t <= kLongestWindowNs; };
  if (!near(d.start_ns) || !near(d.end_ns) || !near(d.base_time_ns.value_or(0))) return "times out of range";
  if (!d.collectives.empty() || !d.steps.empty() || !d.items.empty()) {
    if (!inside(d.end_ns)) return "a window of months";
  }
  if (d.world_size && (*d.world_size < 0 || *d.world_size > INT32_MAX)) return "the size of the world";
  if (d.rank && (*d.rank < 0 || *d.rank > INT32_MAX)) return "the rank";
  for (const DigestGroup& group : d.groups) {
    if (group.size && (*group.size < 0 || *group.size > INT32_MAX)) return "the size of a group";
  }
  for (const DigestStep& step : d.steps) {
    if (!inside(step.start_ns) || !inside(step.end_ns) || step.end_ns < step.start_ns) return "times of a step";
    if (!length(step.busy_ns) || !length(step.compute_ns) || step.comm_ns < 0 || !length(step.exposed_ns))
      return "times of a step";
  }
  for (const DigestCollective& c : d.collectives) {
    if (!inside(c.start_ns) || !inside(c.end_ns) || c.end_ns < c.start_ns) return "times of a collective";
    if (!length(c.exposed_ns) || (c.bytes && (*c.bytes < 0 || *c.bytes > kFurthest))) return "figures of a collective";
    if (c.group >= d.groups.size() || c.name >= d.names.size() || c.dtype >= d.names.size()) return "names of a collective";
    if (c.step >= std::max<std::size_t>(1, d.steps.size())) return "the step of a collective";
  }
  for (const LaneItem& item : d.items) {
    const bool needs =
        item.kind == LaneItemKind::collective || item.kind == LaneItemKind::wait || item.kind == LaneItemKind::after;
    if (item.target == kNoCollective ? needs : item.target >= d.collectives.size()) return "the collective of an item";
  }
  return {};
}

}  // namespace ridge
