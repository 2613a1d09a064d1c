// Every operation is one sweep over both sorted lists.
#include "base/interval_set.h"

#include <algorithm>

namespace ridge {

void IntervalSet::append(Interval next) {
  if (next.start_ns >= next.end_ns) return;
  if (!intervals_.empty() && next.start_ns <= intervals_.back().end_ns) {
    intervals_.back().end_ns = std::max(intervals_.back().end_ns, next.end_ns);
  } else {
    intervals_.push_back(next);
  }
}

IntervalSet::IntervalSet(std::vector<Interval> any) {
  if (!std::is_sorted(any.begin(), any.end())) std::sort(any.begin(), any.end());
  for (const Interval& interval : any) append(interval);
}

std::int64_t IntervalSet::length() const {
  std::int64_t sum = 0;
  for (const Interval& interval : intervals_) sum += interval.length();
  return sum;
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet out;
  std::size_t i = 0, j = 0;
  while (i < a.intervals_.size() || j < b.intervals_.size()) {
    const bool from_a = j == b.intervals_.size() || (i < a.intervals_.size() && a.intervals_[i] <= b.intervals_[j]);
    out.append(from_a ? a.intervals_[i++] : b.intervals_[j++]);
  }
  return out;
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet out;
  for (std::size_t i = 0, j = 0; i < a.intervals_.size() && j < b.intervals_.size();) {
    const Interval &x = a.intervals_[i], &y = b.intervals_[j];
    out.append({std::max(x.start_ns, y.start_ns), std::min(x.end_ns, y.end_ns)});
    x.end_ns < y.end_ns ? ++i : ++j;
  }
  return out;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet out;
  std::size_t j = 0;
  for (const Interval& x : a.intervals_) {
    std::int64_t from = x.start_ns;
    while (j < b.intervals_.size() && b.intervals_[j].end_ns <= from) ++j;
    for (std::size_t k = j; k < b.intervals_.size() && b.intervals_[k].start_ns < x.end_ns; ++k) {
      out.append({from, b.intervals_[k].start_ns});
      from = std::max(from, b.intervals_[k].end_ns);
    }
    out.append({from, x.end_ns});
  }
  return out;
}

}  // namespace ridge
