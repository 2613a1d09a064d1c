// Numbers as rewrites write them: the digits that the library finds, whichever way they were found.
#include "base/json_numbers.h"

#include <cmath>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ridge/json.h>

#include "support/sanitized.h"

namespace ridge::test {
namespace {

std::string number(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}
std::string scaled(double value, int decimals) {
  std::string text;
  append_json_scaled(text, value, decimals);
  return text;
}
std::string rounded(double value) {
  std::string text;
  append_json_rounded(text, value);
  return text;
}

TEST(JsonNumbers, ScaledByHand) {
  EXPECT_EQ(scaled(0, 9), "0");
  EXPECT_EQ(scaled(4096, 9), "4.096e-06");
  EXPECT_EQ(scaled(5000, 9), "5e-06");
  EXPECT_EQ(scaled(100'000, 9), "0.0001");
  EXPECT_EQ(scaled(99'999, 9), "9.9999e-05");
  EXPECT_EQ(scaled(1'234'500'000, 9), "1.2345");
  EXPECT_EQ(scaled(7'000'000'000, 9), "7");
  EXPECT_EQ(scaled(123'456, 3), "123.456");
  EXPECT_EQ(scaled(-1500, 3), "-1.5");
  EXPECT_EQ(scaled(-5, 3), "-0.005");
}

TEST(JsonNumbers, RoundedByHand) {
  EXPECT_EQ(rounded(0), "0");
  EXPECT_EQ(rounded(100), "100");
  EXPECT_EQ(rounded(12.3456789), "12.3457");
  EXPECT_EQ(rounded(0.000123456789), "0.000123457");
  EXPECT_EQ(rounded(0.0000123456789), "1.23457e-05");
  EXPECT_EQ(rounded(999'999.7), "1e+06");
  EXPECT_EQ(rounded(99'999.97), "100000");
  EXPECT_EQ(rounded(0.5), "0.5");
}

// A decimal scaled is the number divided; six digits are those of the library.
TEST(JsonNumbers, AsTheLibraryHasThem) {
  std::mt19937_64 random(11);
  for (int round = 0; round < (kSanitized ? 20'000 : 300'000); ++round) {
    const auto digits = static_cast<int>(random() % 17);
    const double integer = std::floor(std::pow(10.0, digits) * std::generate_canonical<double, 53>(random));
    for (const int decimals : {3, 9}) {
      const double by = decimals == 3 ? 1e3 : 1e9;
      ASSERT_EQ(scaled(integer, decimals), number(integer / by)) << integer;
      ASSERT_EQ(scaled(-integer, decimals), number(-integer / by + 0.0)) << integer;  // no "-0"
      ASSERT_EQ(scaled(integer + 0.25, decimals), number((integer + 0.25) / by)) << integer;
    }
    const double real = std::pow(10.0, static_cast<double>(random() % 24) - 14) * std::generate_canonical<double, 53>(random);
    ASSERT_EQ(rounded(real), fmt::format("{:.6g}", real)) << fmt::format("{}", real);
    ASSERT_EQ(rounded(-real), fmt::format("{:.6g}", -real)) << fmt::format("{}", real);
  }
}

// Where six digits end in a five, and next to the powers of ten.
TEST(JsonNumbers, HardOnesAsTheLibraryHasThem) {
  for (int power = -14; power <= 8; ++power) {
    const double ten = std::pow(10.0, power);
    for (int six = 100'000; six < 1'000'000; six += 997) {
      const double half = (six + 0.5) * 1e-5 * ten;
      for (const double value : {half, std::nextafter(half, 0.0), std::nextafter(half, 1e300)})
        ASSERT_EQ(rounded(value), fmt::format("{:.6g}", value)) << fmt::format("{}", value);
    }
    for (const double value : {ten, std::nextafter(ten, 0.0), std::nextafter(ten, 1e300), ten * 0.9999995, ten * 0.9999994})
      ASSERT_EQ(rounded(value), fmt::format("{:.6g}", value)) << fmt::format("{}", value);
  }
}

}  // namespace
}  // namespace ridge::test
