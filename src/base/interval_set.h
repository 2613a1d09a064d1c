// IntervalSet: a set of time as sorted, disjoint, half-open intervals [start, end). Busy time is the measure of such a union,
// never a sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ridge {

struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t length() const { return end_ns - start_ns; }
  auto operator<=>(const Interval&) const = default;
};

// Invariant: starts ascend, no interval is empty, and none touches the next.
class IntervalSet {
 public:
  IntervalSet() = default;
  // The union of any intervals, in any order; empty and reversed ones count for nothing.
  explicit IntervalSet(std::vector<Interval> any);

  std::span<const Interval> intervals() const { return intervals_; }
  bool empty() const { return intervals_.empty(); }
  std::int64_t length() const;  // the measure: sum of the lengths
  std::uint64_t heap_bytes() const { return intervals_.capacity() * sizeof(Interval); }

 private:
  friend IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);

  void append(Interval next);  // starts no earlier than the last

  std::vector<Interval> intervals_;
};

IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);  // a without b

}  // namespace ridge
