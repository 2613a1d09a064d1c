// What lies inside a rectangle of time and tracks: by name and by category, and how busy the devices were.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/try.h"
#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kMostNames = 200;

// Sums of hostile durations stop at what 64 bits hold.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

struct Sum {
  std::int64_t count = 0, total_ns = 0, self_ns = 0;

  void add(const Sum& other) {
    count += other.count;
    total_ns = plus(total_ns, other.total_ns);
    self_ns = plus(self_ns, other.self_ns);
  }
};

class AreaSums {
 public:
  AreaSums(TimeRange range) : range_(range) {}

  void add(const Lane& lane) {
    const auto row = [&](std::size_t r) { return r < lane.rows.size() ? &lane.rows[r] : nullptr; };
    for (std::size_t r = 0; r < lane.rows.size(); ++r) {
      // The work under an annotation may stand several rows further down.
      const bool apart = r + 1 < lane.upper_rows;
      add(lane.rows[r], row(r + 1), apart ? row(lane.upper_rows) : nullptr);
    }
  }

  std::int64_t count() const { return count_; }
  const std::map<std::pair<std::uint8_t, StringId>, Sum>& by_name() {
    for (const auto& [key, sum] : sums_)
      sorted_[{static_cast<std::uint8_t>(key & 0xFF), StringId{static_cast<std::uint32_t>(key >> 8)}}] = sum;
    return sorted_;
  }

 private:
  static void collect(const LaneRow& row, std::int64_t from_ns, std::int64_t to_ns, std::vector<Interval>* out) {
    std::size_t i = row.first_from(from_ns);
    if (i > 0) --i;
    for (; i < row.size() && row.start_ns[i] < to_ns; ++i) {
      const Interval part{std::max(row.start_ns[i], from_ns), std::min(row.end_ns[i], to_ns)};
      if (part.length() > 0) out->push_back(part);
    }
  }

  static std::int64_t covered_ns(const LaneRow* below, const LaneRow* work, std::int64_t from_ns, std::int64_t to_ns) {
    if (below == nullptr || from_ns == to_ns) return 0;
    if (work == nullptr) return below->covered_ns(from_ns, to_ns);
    std::vector<Interval> parts;
    collect(*below, from_ns, to_ns, &parts);
    collect(*work, from_ns, to_ns, &parts);
    return IntervalSet(std::move(parts)).length();
  }

  // A slice cut by the area's edge has the self time of its part inside: without what the row below, and that of the work,
  // cover there.
  void add(const LaneRow& row, const LaneRow* below, const LaneRow* work) {
    const std::size_t last = row.first_from(range_.end_ns);
    std::size_t first = row.first_from(range_.start_ns);
    while (first > 0 && row.end_ns[first - 1] > range_.start_ns) --first;  // one step, but for the row of overlapping slices
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t from = std::max(row.start_ns[i], range_.start_ns), to = std::min(row.end_ns[i], range_.end_ns);
      if (to < from) continue;
      const bool whole = to - from == row.duration_ns(i);
      std::int64_t self = row.self_ns[i];
      if (!whole) self = to - from - covered_ns(below, work, from, to);
      sums_[std::uint64_t{row.name[i].value} << 8 | row.category[i]].add({1, to - from, self});
      ++count_;
    }
  }

  TimeRange range_;
  std::int64_t count_ = 0;
  std::unordered_map<std::uint64_t, Sum> sums_;
  std::map<std::pair<std::uint8_t, StringId>, Sum> sorted_;
};

AreaRow row_of(std::string name, std::string category, const Sum& sum) {
  return {std::move(name), std::move(category), sum.count, sum.total_ns, sum.self_ns};
}

// Longest first; equal ones by name, so that the answer is the same every time.
void sort_rows(std::vector<AreaRow>* rows) {
  std::sort(rows->begin(), rows->end(), [](const AreaRow& a, const AreaRow& b) {
    return std::tie(b.total_ns, a.name, a.category) < std::tie(a.total_ns, b.name, b.category);
  });
}

}  // namespace

Result<Area> Timeline::area(std::int64_t from_ns, std::int64_t to_ns,
                            const std::optional<std::vector<std::uint32_t>>& tracks) const {
  const Threads::Use use(state_->threads.get());
  TRY(const TimeRange range, checked_range(from_ns, to_ns, state_->origin_ns()));
  const Lanes& lanes = state_->lanes();
  AreaSums sums(range);
  if (tracks) {
    std::vector<std::uint32_t> wanted = *tracks;
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const std::uint32_t track : wanted) {
      const Lane* lane = lanes.find(TrackId{track});
      if (lane == nullptr)
        return fail(ErrorCode::usage, "there is no track " + std::to_string(track), "", "/api/v1/tracks lists them");
      sums.add(*lane);
    }
  } else {
    for (const Lane& lane : lanes.lanes) sums.add(lane);
  }
  Area area;
  area.slices = sums.count();
  std::map<std::uint8_t, Sum> by_category;
  for (const auto& [key, sum] : sums.by_name()) {
    area.by_name.push_back(row_of(std::string(state_->trace().text(key.second)), lanes.categories[key.first], sum));
    by_category[key.first].add(sum);
  }
  sort_rows(&area.by_name);
  if (area.by_name.size() > kMostNames) area.by_name.resize(kMostNames);
  for (const auto& [category, sum] : by_category) area.by_category.push_back(row_of("", lanes.categories[category], sum));
  sort_rows(&area.by_category);
  const IntervalSet here({{range.start_ns, range.end_ns}});
  for (const auto& [device, busy] : state_->busy().devices) {
    area.busy_pct.emplace_back(
        device, 100.0 * static_cast<double>(intersect(busy, here).length()) / static_cast<double>(range.duration_ns()));
  }
  return area;
}

}  // namespace ridge
