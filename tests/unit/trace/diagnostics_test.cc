// Counters by problem, and the places they keep.
#include "trace/diagnostics.h"

#include <set>

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(Diagnostics, CountsAllAndKeepsTheFirstPlaces) {
  Diagnostics d;
  for (std::uint64_t i = 0; i < 150; ++i) d.add(Problem::no_phase, 1000 + i);
  EXPECT_EQ(d[Problem::no_phase].count, 150U);
  EXPECT_EQ(d[Problem::no_phase].first_offset, 1000U);
  EXPECT_EQ(d[Problem::no_phase].offsets.size(), Diagnostics::kMostOffsets);
  EXPECT_EQ(d[Problem::trailing_comma].count, 0U);
  d.add_unplaced(Problem::unmatched_end, 3);
  EXPECT_EQ(d[Problem::unmatched_end].count, 3U);
  EXPECT_TRUE(d[Problem::unmatched_end].offsets.empty());
  d.clear();
  EXPECT_EQ(d[Problem::no_phase].count, 0U);
}

TEST(Diagnostics, JoinsParts) {
  Diagnostics a, b;
  for (std::uint64_t i = 0; i < 60; ++i) a.add(Problem::no_phase, i);
  for (std::uint64_t i = 0; i < 60; ++i) b.add(Problem::no_phase, 100 + i);
  a.add_all(b);
  EXPECT_EQ(a[Problem::no_phase].count, 120U);
  ASSERT_EQ(a[Problem::no_phase].offsets.size(), Diagnostics::kMostOffsets);
  EXPECT_EQ(a[Problem::no_phase].offsets.back(), 139U);
}

TEST(Diagnostics, DroppedEventsAreElementsThatAreNotThere) {
  Diagnostics d;
  d.add(Problem::unreadable_event, 0);
  d.add(Problem::no_phase, 0);
  d.add(Problem::event_too_large, 0);
  d.add(Problem::truncated_event, 0);         // not a complete element
  d.add(Problem::garbage_between_events, 0);  // not an element
  d.add(Problem::unescaped_quote, 0);         // mended
  EXPECT_EQ(d.dropped_events(), 3U);
}

TEST(Diagnostics, CodesAreDistinct) {
  std::set<std::string_view> codes;
  for (std::size_t i = 0; i < kProblems; ++i) {
    codes.insert(row_of(static_cast<Problem>(i)).code);
    EXPECT_FALSE(row_of(static_cast<Problem>(i)).message.empty());
  }
  EXPECT_EQ(codes.size(), kProblems);
  EXPECT_EQ(row_of(Problem::duplicate_events_key).code, "duplicate_events_key");
  EXPECT_EQ(row_of(Problem::truncated_json).code, "truncated_json");
}

}  // namespace
}  // namespace ridge
