// Gallops from bucket to bucket; the mipmap answers for the short slices of each.
#include "timeline/level_of_detail.h"

#include <algorithm>
#include <bit>

namespace ridge {
namespace {

std::int64_t floor_to(std::int64_t value, std::int64_t width) {
  const std::int64_t rest = value % width;
  return value - (rest < 0 ? rest + width : rest);
}

// Finds the first slice that starts at or after `time_ns`, which is near `from`: steps that double, then a search between the
// last two.
std::size_t gallop(const std::vector<std::int64_t>& start_ns, std::size_t from, std::int64_t time_ns) {
  std::size_t step = 1, low = from, high = from;
  while (high < start_ns.size() && start_ns[high] < time_ns) {
    low = high + 1;
    high = from + step;
    step *= 2;
  }
  high = std::min(high, start_ns.size());
  const auto begin = start_ns.begin();
  return static_cast<std::size_t>(
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high), time_ns) - begin);
}

class RowView {
 public:
  RowView(const LaneRow& row, const Grid& grid) : row_(row), grid_(grid) {}

  DepthSlices make() {
    std::size_t i = row_.first_from(grid_.start_ns);
    if (i > 0) enter(i - 1);
    while (i < row_.size() && row_.start_ns[i] < grid_.end_ns()) i = bucket(i);
    flush(grid_.count);
    return std::move(out_);
  }

 private:
  struct Overhang {  // of a short slice into the bucket behind the one it started in
    std::int64_t bucket = -1;
    std::int64_t covered_ns = 0;
    std::size_t slice = 0;
  };

  // The slice before the window, should it reach in. In the row of overlapping ones an earlier one may reach further: the
  // longest is taken.
  void enter(std::size_t before) {
    std::size_t slice = before;
    if (row_.overlapping) slice = row_.mipmap.run(row_.start_ns, row_.end_ns, 0, before + 1).longest;
    if (row_.end_ns[slice] <= grid_.start_ns) return;
    if (row_.duration_ns(slice) >= grid_.width_ns) {
      exact(slice);
    } else {
      overhang_ = {0, row_.end_ns[slice] - grid_.start_ns, slice};
    }
  }

  // Everything that starts in the bucket of slice `i`; returns the first slice behind.
  std::size_t bucket(std::size_t i) {
    const std::int64_t at = grid_.bucket_of(row_.start_ns[i]);
    const std::int64_t bucket_end = grid_.start_ns + (at + 1) * grid_.width_ns;
    const std::size_t next = gallop(row_.start_ns, i, bucket_end);
    std::size_t shorts = next;
    std::size_t long_slice = next;
    if (row_.overlapping) {
      const std::uint32_t longest = row_.mipmap.run(row_.start_ns, row_.end_ns, i, next).longest;
      if (row_.duration_ns(longest) >= grid_.width_ns) long_slice = longest;
    } else if (row_.duration_ns(next - 1) >= grid_.width_ns) {
      long_slice = --shorts;
    }
    flush(at);
    if (shorts > i) merge(i, shorts, at, bucket_end);
    flush(at + 1);
    if (long_slice != next) exact(long_slice);
    return next;
  }

  void merge(std::size_t first, std::size_t last, std::int64_t at, std::int64_t bucket_end) {
    const SliceMipmap::Run run = row_.mipmap.run(row_.start_ns, row_.end_ns, first, last);
    const std::int64_t over = std::max<std::int64_t>(row_.end_ns[last - 1] - bucket_end, 0);
    std::int64_t covered = run.total_ns - over;
    if (overhang_.bucket == at) covered += overhang_.covered_ns;
    overhang_ = {};
    emit(at, last - first, covered, run.longest);
    if (over > 0) overhang_ = {at + 1, over, last - 1};
  }

  // Writes the overhang if its bucket lies before `at`: nothing starts there.
  void flush(std::int64_t at) {
    if (overhang_.bucket < 0 || overhang_.bucket >= at) return;
    emit(overhang_.bucket, 0, overhang_.covered_ns, overhang_.slice);
    overhang_ = {};
  }

  void emit(std::int64_t at, std::size_t count, std::int64_t covered_ns, std::size_t slice) {
    out_.buckets.at.push_back(static_cast<std::uint32_t>(at));
    out_.buckets.count.push_back(static_cast<std::uint32_t>(count));
    out_.buckets.busy.push_back(share_of(covered_ns, grid_.width_ns));
    out_.buckets.id.push_back(static_cast<std::uint32_t>(slice));
  }

  void exact(std::size_t slice) {
    out_.slices.start_ns.push_back(row_.start_ns[slice]);
    out_.slices.dur_ns.push_back(row_.duration_ns(slice));
    out_.slices.id.push_back(static_cast<std::uint32_t>(slice));
  }

  const LaneRow& row_;
  const Grid& grid_;
  DepthSlices out_;
  Overhang overhang_;
};

}  // namespace

Grid grid_of_width(std::int64_t from_ns, std::int64_t to_ns, std::int64_t width_ns) {
  Grid grid{floor_to(from_ns, width_ns), width_ns, 0};
  grid.count = (to_ns - grid.start_ns + width_ns - 1) / width_ns;
  return grid;
}

Grid grid_for(std::int64_t from_ns, std::int64_t to_ns, std::uint32_t px) {
  const auto length = static_cast<std::uint64_t>(to_ns - from_ns);
  return grid_of_width(from_ns, to_ns, static_cast<std::int64_t>(std::bit_ceil((length + px - 1) / px)));
}

DepthSlices view_of(const LaneRow& row, const Grid& grid) { return RowView(row, grid).make(); }

std::uint8_t share_of(std::int64_t covered_ns, std::int64_t width_ns) {
  if (covered_ns <= 0) return 0;
  if (covered_ns >= width_ns) return 255;
  const double share = 255.0 * static_cast<double>(covered_ns) / static_cast<double>(width_ns);
  return static_cast<std::uint8_t>(std::clamp(share, 1.0, 254.0));
}

}  // namespace ridge
