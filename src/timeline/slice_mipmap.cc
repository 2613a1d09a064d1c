// Built bottom up; a run is made of the largest whole blocks inside it.
#include "timeline/slice_mipmap.h"

#include <algorithm>

namespace ridge {
namespace {

// Sums of hostile durations may not overflow: 2^62 ns is longer than any window.
std::int64_t add(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  return std::min(a, kMost) + std::min(b, kMost - 1) > kMost ? kMost : a + b;
}

void join(SliceMipmap::Run* run, const SliceMipmap::Run& next) {
  run->total_ns = add(run->total_ns, next.total_ns);
  if (next.longest_ns <= run->longest_ns) return;
  run->longest_ns = next.longest_ns;
  run->longest = next.longest;
}

SliceMipmap::Run one(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> end_ns, std::size_t i) {
  const std::int64_t dur = end_ns[i] - start_ns[i];
  return {dur, dur, static_cast<std::uint32_t>(i)};
}

}  // namespace

void SliceMipmap::build(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> end_ns) {
  levels_.clear();
  std::vector<Run> level(start_ns.size() / kFan);
  for (std::size_t b = 0; b < level.size(); ++b) {
    for (std::size_t i = b * kFan; i < (b + 1) * kFan; ++i) join(&level[b], one(start_ns, end_ns, i));
  }
  while (!level.empty()) {
    std::vector<Run> next(level.size() / kFan);
    for (std::size_t b = 0; b < next.size(); ++b) {
      for (std::size_t i = b * kFan; i < (b + 1) * kFan; ++i) join(&next[b], level[i]);
    }
    levels_.push_back(std::move(level));
    level = std::move(next);
  }
}

SliceMipmap::Run SliceMipmap::run(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> end_ns,
                                  std::size_t first, std::size_t last) const {
  Run run;
  for (std::size_t i = first; i < last;) {
    std::size_t level = 0, size = 1;  // the largest whole block that begins here
    while (level < levels_.size() && i % (size * kFan) == 0 && i + size * kFan <= last) {
      size *= kFan;
      ++level;
    }
    join(&run, level == 0 ? one(start_ns, end_ns, i) : levels_[level - 1][i / size]);
    i += size;
  }
  return run;
}

}  // namespace ridge
