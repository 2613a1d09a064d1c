// Level of detail: one row of a lane within a window, in at most two entries per bucket however many slices there are.
//
// A slice at least a bucket long is given exactly: a row's slices do not overlap, so a bucket starts at most one of them. The
// shorter ones are counted in the bucket they start in, with the longest of them and how much of the bucket they cover: a short
// slice that reaches into the next bucket covers a part of both. Idle gaps so stay visible at any zoom. O(buckets log n).
#pragma once

#include <cstdint>

#include <ridge/timeline.h>

#include "timeline/lanes.h"

namespace ridge {

struct Grid {  // buckets [start, start + width), ... ; times as in the trace
  std::int64_t start_ns = 0;
  std::int64_t width_ns = 1;
  std::int64_t count = 0;

  std::int64_t end_ns() const { return start_ns + width_ns * count; }
  std::int64_t bucket_of(std::int64_t time_ns) const { return (time_ns - start_ns) / width_ns; }
};

// The grid for [from, to): the least power of two that needs no more than `px` buckets (one more where the window is not on the
// grid).
Grid grid_for(std::int64_t from_ns, std::int64_t to_ns, std::uint32_t px);
Grid grid_of_width(std::int64_t from_ns, std::int64_t to_ns, std::int64_t width_ns);

// Entries hold the row's own indexes in `name`, `id` and `category`: index into the row, to be replaced by the caller.
// Times are those of the trace.
DepthSlices view_of(const LaneRow& row, const Grid& grid);

// 0 to 255: how much of `width` is `covered`; never 0 for something nor 255 for less than all.
std::uint8_t share_of(std::int64_t covered_ns, std::int64_t width_ns);

}  // namespace ridge
