// Clocks of a job, on hand-made ones: known by base time or by the epoch, unknown, and too far apart.
#include "job/clocks.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kIn2023 = 1'700'000'000 * kSecond;

TraceClock based(std::int64_t base_ns, std::int64_t start_ns, std::int64_t end_ns) {
  return {"based", base_ns, TimeRange{start_ns, end_ns}};
}
TraceClock unbased(std::int64_t start_ns, std::int64_t end_ns) { return {"unbased", {}, TimeRange{start_ns, end_ns}}; }

AlignedClocks aligned(const std::vector<TraceClock>& traces) { return align_clocks(traces).value(); }

TEST(Clocks, NoTracesNeedNoClock) {
  const AlignedClocks none = aligned({});
  EXPECT_TRUE(none.add_ns.empty());
  EXPECT_FALSE(none.base_time_ns);
}

TEST(Clocks, TimesCountFromTheEarliestBase) {
  const AlignedClocks clocks = aligned({based(kIn2023 + 5, 10, 20), based(kIn2023, 10, 20), based(kIn2023 + 7, 0, 1)});
  EXPECT_EQ(clocks.base_time_ns, kIn2023);
  EXPECT_EQ(clocks.add_ns, (std::vector<std::int64_t>{5, 0, 7}));
  EXPECT_TRUE(clocks.unknown.empty());
  EXPECT_TRUE(clocks.far_apart.empty());
}

TEST(Clocks, TimesOfTodayWithoutABaseCountFromTheEpoch) {
  const AlignedClocks clocks = aligned({based(kIn2023, 10, 20), unbased(kIn2023 + 100, kIn2023 + 200)});
  EXPECT_EQ(clocks.add_ns, (std::vector<std::int64_t>{0, -kIn2023}));
  EXPECT_TRUE(clocks.unknown.empty());
}

TEST(Clocks, AnUnknownClockAmongTheTimesOfAnotherIsThatOnes) {
  const AlignedClocks clocks = aligned(
      {based(kIn2023, 0, kSecond), based(kIn2023 - 3, 500 * kSecond, 501 * kSecond), unbased(30 * kSecond, 31 * kSecond)});
  EXPECT_EQ(clocks.add_ns, (std::vector<std::int64_t>{3, 0, 3}));  // 29 s behind the first, 469 s before the second
  ASSERT_EQ(clocks.unknown.size(), 1U);
  EXPECT_EQ(clocks.unknown[0].name, "unbased");
  EXPECT_FALSE(clocks.unknown[0].moved);
}

TEST(Clocks, AnUnknownClockFarFromAllStartsWithTheEarliest) {
  const AlignedClocks clocks =
      aligned({based(kIn2023 + 100, 1000, 2000), unbased(900 * kSecond, 901 * kSecond), based(kIn2023, 2000, 3000)});
  // The first starts at 1100 of the common clock, the third at 2000.
  EXPECT_EQ(clocks.add_ns[1], 1100 - 900 * kSecond);
  ASSERT_EQ(clocks.unknown.size(), 1U);
  EXPECT_TRUE(clocks.unknown[0].moved);
  EXPECT_TRUE(clocks.far_apart.empty()) << "nobody knows how far apart an unknown clock is";
}

TEST(Clocks, WithoutAnyKnownClockTheFirstIsTheMeasure) {
  const AlignedClocks clocks = aligned({unbased(50, 60), unbased(55, 70), unbased(100 * kSecond, 101 * kSecond)});
  EXPECT_FALSE(clocks.base_time_ns);
  EXPECT_EQ(clocks.add_ns, (std::vector<std::int64_t>{0, 0, 50 - 100 * kSecond}));
  EXPECT_EQ(clocks.unknown.size(), 3U);
}

TEST(Clocks, ATraceWithoutAWindowHasNothingToMove) {
  const AlignedClocks clocks = aligned({based(kIn2023, 0, 1), {"empty", {}, {}}});
  EXPECT_EQ(clocks.add_ns, (std::vector<std::int64_t>{0, 0}));
  EXPECT_TRUE(clocks.unknown.empty());
}

TEST(Clocks, AMinuteWithoutAnyTraceIsToldOnce) {
  const AlignedClocks clocks =
      aligned({based(kIn2023 + 100 * kSecond, 0, kSecond), based(kIn2023, 0, 10 * kSecond), based(kIn2023 + 1, 0, 2)});
  ASSERT_EQ(clocks.far_apart.size(), 1U);
  EXPECT_EQ(clocks.far_apart[0].gap_ns, 90 * kSecond);  // from the last end before it, not from the last start
  EXPECT_TRUE(aligned({based(kIn2023, 0, 10), based(kIn2023 + 60 * kSecond, 0, 10)}).far_apart.empty());
}

TEST(Clocks, NoJobHasClocksACenturyApart) {
  const auto far = align_clocks(std::vector{based(kIn2023, 0, 1), based(kIn2023 - (std::int64_t{1} << 61) - 1, 0, 1)});
  ASSERT_FALSE(far.has_value());
  EXPECT_EQ(far.error().code, ErrorCode::usage);
  EXPECT_FALSE(align_clocks(std::vector{based(INT64_MAX, 0, 1), based(INT64_MIN, 0, 1)}).has_value());
}

TEST(Clocks, HostileTimesDoNotOverflow) {
  const AlignedClocks clocks = aligned({unbased(INT64_MIN, INT64_MIN + 1), unbased(0, 1), unbased(INT64_MAX - 1, INT64_MAX)});
  EXPECT_EQ(clocks.add_ns.size(), 3U);
}

}  // namespace
}  // namespace ridge
