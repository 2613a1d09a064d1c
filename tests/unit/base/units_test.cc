// Rounding at the borders between units.
#include "base/units.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Units, DurationHasThreeDecimalsAboveNanoseconds) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(812), "812 ns");
  EXPECT_EQ(format_duration(12.5), "12.5 ns");
  EXPECT_EQ(format_duration(1234), "1.234 us");
  EXPECT_EQ(format_duration(1234567), "1.235 ms");
  EXPECT_EQ(format_duration(61.5e9), "61.500 s");
  EXPECT_EQ(format_duration(5000e9), "5000.000 s");
}

TEST(Units, DurationThatRoundsUpMovesToTheNextUnit) {
  EXPECT_EQ(format_duration(999'999), "999.999 us");
  EXPECT_EQ(format_duration(999'999'499), "999.999 ms");
  EXPECT_EQ(format_duration(999'999'500), "1.000 s");
}

TEST(Units, NegativeValuesKeepTheirScale) {
  EXPECT_EQ(format_duration(-1234567), "-1.235 ms");
  EXPECT_EQ(format_bytes(-12.3e6), "-12.3 MB");
}

TEST(Units, BytesAreDecimalWithThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(12'345'678), "12.3 MB");
  EXPECT_EQ(format_bytes(9.994e9), "9.99 GB");
  EXPECT_EQ(format_bytes(9.996e9), "10.0 GB");
  EXPECT_EQ(format_bytes(999'499), "999 kB");
  EXPECT_EQ(format_bytes(999'500), "1.00 MB");
}

TEST(Units, RatesAndFlop) {
  EXPECT_EQ(format_flop(2e12), "2.00 TFLOP");
  EXPECT_EQ(format_flop_per_s(989.4e12), "989 TFLOP/s");
  EXPECT_EQ(format_bytes_per_s(3.35e12), "3.35 TB/s");
}

TEST(Units, PercentAndCounts) {
  EXPECT_EQ(format_percent(12.34), "12.3 %");
  EXPECT_EQ(format_count(std::int64_t{0}), "0");
  EXPECT_EQ(format_count(std::int64_t{999}), "999");
  EXPECT_EQ(format_count(std::int64_t{1234567}), "1,234,567");
  EXPECT_EQ(format_count(std::int64_t{-123456}), "-123,456");
  EXPECT_EQ(format_count(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(format_count(1234.5), "1,234.5");
  EXPECT_EQ(format_count(1234.0), "1,234");
}

TEST(Units, PlainNumbersKeepFourDigits) {
  EXPECT_EQ(format_plain(1.0 / 3), "0.3333");
  EXPECT_EQ(format_plain(12345.6), "12346");
  EXPECT_EQ(format_plain(0), "0");
}

TEST(Units, NotFiniteIsUnknown) {
  EXPECT_EQ(format_duration(kInfinity), "-");
  EXPECT_EQ(format_bytes(std::nan("")), "-");
  EXPECT_EQ(format_percent(-kInfinity), "-");
  EXPECT_EQ(format_count(kInfinity), "-");
  EXPECT_EQ(format_plain(std::nan("")), "-");
}

}  // namespace
}  // namespace ridge
