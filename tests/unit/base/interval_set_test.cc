// Interval sets against a plain bitmap on random input, and the edges by hand.
#include "base/interval_set.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr std::int64_t kTimes = 120;
using PlainBits = std::vector<bool>;

std::vector<Interval> random_intervals(std::mt19937& random) {
  std::vector<Interval> any(random() % 14);
  for (Interval& i : any) {
    i.start_ns = static_cast<std::int64_t>(random() % kTimes);
    i.end_ns = i.start_ns + static_cast<std::int64_t>(random() % 20) - 3;  // some are empty or reversed
    i.end_ns = std::min(i.end_ns, kTimes);
  }
  return any;
}

PlainBits bitmap_of(const std::vector<Interval>& intervals) {
  PlainBits bits(kTimes);
  for (const Interval& i : intervals) {
    for (std::int64_t t = i.start_ns; t < i.end_ns; ++t) bits[static_cast<std::size_t>(t)] = true;
  }
  return bits;
}

void expect_is(const IntervalSet& set, const PlainBits& bits, const char* what) {
  const std::vector<Interval> intervals(set.intervals().begin(), set.intervals().end());
  EXPECT_EQ(bitmap_of(intervals), bits) << what;
  EXPECT_EQ(set.length(), std::count(bits.begin(), bits.end(), true)) << what;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_LT(intervals[i].start_ns, intervals[i].end_ns) << what;
    if (i == 0) continue;
    EXPECT_GT(intervals[i].start_ns, intervals[i - 1].end_ns) << what << ": touching intervals are one";
  }
}

template <class Rule>
PlainBits combine(const PlainBits& a, const PlainBits& b, Rule rule) {
  PlainBits out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = rule(a[i], b[i]);
  return out;
}

TEST(IntervalSet, AgreesWithABitmap) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    const std::vector<Interval> x = random_intervals(random), y = random_intervals(random);
    const IntervalSet a(x), b(y);
    const PlainBits p = bitmap_of(x), q = bitmap_of(y);
    expect_is(a, p, "union of one list");
    expect_is(unite(a, b), combine(p, q, [](bool i, bool j) { return i || j; }), "unite");
    expect_is(intersect(a, b), combine(p, q, [](bool i, bool j) { return i && j; }), "intersect");
    expect_is(subtract(a, b), combine(p, q, [](bool i, bool j) { return i && !j; }), "subtract");
  }
}

TEST(IntervalSet, EmptyAndReversedIntervalsCountForNothing) {
  EXPECT_TRUE(IntervalSet({{5, 5}, {9, 2}}).empty());
  EXPECT_EQ(IntervalSet({{3, 5}, {5, 8}}).intervals().size(), 1U);
}

}  // namespace
}  // namespace ridge
