// Numbers against exact arithmetic on their digits: by hand at the edges, at random everywhere else.
#include "ingest/number.h"

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "ingest/scan.h"

namespace ridge {
namespace {

// Microseconds to nanoseconds by moving the point in the text; nothing when the result has more than 18 digits.
std::optional<std::int64_t> exact_ns(std::string text) {
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  std::int64_t exponent = 0;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string::npos) {
    exponent = std::stoll(text.substr(e + 1));
    text.resize(e);
  }
  std::size_t point = text.find('.');
  if (point == std::string::npos) {
    point = text.size();
  } else {
    text.erase(point, 1);
  }
  const std::int64_t digits = static_cast<std::int64_t>(point) + exponent + 3;
  if (digits <= 0) return 0;
  text.resize(static_cast<std::size_t>(digits), '0');
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  constexpr std::string_view kMost = "9223372036854775807";
  if (text.size() > kMost.size() || (text.size() == kMost.size() && text > kMost)) return std::nullopt;
  const std::int64_t value = text.empty() ? 0 : std::stoll(text);
  return negative ? -value : value;
}

std::string padded(const std::string& text) { return text + std::string(kPadding, '\0'); }

TEST(Time, Edges) {
  EXPECT_EQ(time_ns_of("0"), 0);
  EXPECT_EQ(time_ns_of("-0"), 0);
  EXPECT_EQ(time_ns_of("9223372036854775.807"), INT64_MAX);
  EXPECT_EQ(time_ns_of("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(time_ns_of("9223372036854775.8079999"), INT64_MAX);
  EXPECT_EQ(time_ns_of("1e-3"), 1);
  EXPECT_EQ(time_ns_of("9.99e-4"), 0);
  EXPECT_EQ(time_ns_of("1e15"), 1'000'000'000'000'000'000);
  EXPECT_EQ(time_ns_of("1e16"), std::nullopt);
  EXPECT_EQ(time_ns_of("0e99999999999999999999"), 0);
  EXPECT_EQ(time_ns_of("1e99999999999999999999"), std::nullopt);
  EXPECT_EQ(time_ns_of("1e-99999999999999999999"), 0);
  EXPECT_EQ(time_ns_of("0.000000000000000000000001e24"), 1000);
}

TEST(Time, LongTexts) {
  EXPECT_EQ(time_ns_of("1." + std::string(100'000, '9')), 1999);
  EXPECT_EQ(time_ns_of("0." + std::string(100'000, '0') + "5e100001"), 5000);
  EXPECT_EQ(time_ns_of(std::string(100'000, '9')), std::nullopt);
}

TEST(Time, RandomAgainstExactArithmetic) {
  std::mt19937_64 random(1);
  int taken_by_short_way = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 8 == 0 ? "-" : "";
    text += std::to_string(random() % (std::uint64_t{1} << random() % 54));
    if (random() % 3 != 0) {
      text += '.';
      const std::size_t decimals = 1 + random() % 18;
      for (std::size_t d = 0; d < decimals; ++d) text += static_cast<char>('0' + random() % 10);
    }
    if (random() % 8 == 0) text += (random() % 2 ? "e" : "E-") + std::to_string(random() % 6);
    const auto expected = exact_ns(text);
    if (expected) {
      ASSERT_EQ(time_ns_of(text), expected) << text;
    }
    std::int64_t ns = 0;
    const std::string buffer = padded(text + (random() % 2 ? "," : "}"));
    if (const char* end = read_time(buffer.data(), &ns)) {
      ++taken_by_short_way;
      ASSERT_EQ(end - buffer.data(), static_cast<std::ptrdiff_t>(text.size())) << text;
      ASSERT_EQ(ns, expected) << text;
    }
  }
  EXPECT_GT(taken_by_short_way, 100'000);
}

TEST(Time, ShortWayLeavesTheRestAlone) {
  std::int64_t ns = 0;
  for (const char* text :
       {"", "x", "-", "01", "1.", ".5", "1e3", "1.5E2", "12345678901234567", "+1", "1.2.3", "1-", "--1", "\"1\""}) {
    EXPECT_EQ(read_time(padded(text).data(), &ns), nullptr) << text;
  }
}

TEST(Time, ShortWayTakesTimesSince1970AndStopsWhereInt64Does) {
  std::int64_t ns = 0;
  EXPECT_NE(read_time(padded("1712195495522371.216,").data(), &ns), nullptr);
  EXPECT_EQ(ns, 1712195495522371216);
  EXPECT_NE(read_time(padded("-9223372036854774.999,").data(), &ns), nullptr);
  EXPECT_EQ(ns, -9223372036854774999);
  for (const char* text : {"9223372036854775.807", "9223372036854775", "9999999999999999.9"}) {
    EXPECT_EQ(read_time(padded(text).data(), &ns), nullptr) << text;
  }
}

TEST(Integer, RandomAgainstLibrary) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = (random() % 2 ? "-" : "") + std::to_string(random() >> (1 + random() % 63));
    std::int64_t value = 0;
    const std::string buffer = padded(text);
    const char* end = read_integer(buffer.data(), &value);
    const std::size_t digits = text.size() - (text[0] == '-');
    ASSERT_EQ(end != nullptr, digits <= 18) << text;
    if (end != nullptr) {
      ASSERT_EQ(value, std::stoll(text));
    }
  }
}

TEST(Integer, NotOne) {
  std::int64_t value = 0;
  for (const char* text : {"", "-", "x", "00", "-01", "1.0", "1e3", "1234567890123456789", "+1"}) {
    EXPECT_EQ(read_integer(padded(text).data(), &value), nullptr) << text;
  }
}

TEST(Number, IsJson) {
  for (const char* text : {"0", "-0", "10", "1.5", "-1.25e+10", "1E5", "0.0", "1e-7", "123456789012345678901234567890"}) {
    EXPECT_TRUE(is_json_number(text)) << text;
  }
  for (const char* text :
       {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1.5.5", "0x10", "1 ", " 1", "inf", "nan", "1a", "--1"}) {
    EXPECT_FALSE(is_json_number(text)) << text;
  }
}

TEST(Number, RealsAreTheNearestDouble) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 50'000; ++i) {
    std::string text = std::to_string(random() % 1000) + "." + std::to_string(random());
    if (random() % 3 == 0) text += "e" + std::to_string(static_cast<int>(random() % 700) - 350);
    ASSERT_EQ(real_of(text), std::strtod(text.c_str(), nullptr)) << text;
  }
  EXPECT_EQ(real_of("1e400"), INFINITY);
  EXPECT_EQ(real_of("-1e400"), -INFINITY);
  EXPECT_EQ(real_of("1e-400"), 0.0);
  EXPECT_EQ(real_of("0.1e-399"), 0.0);
  EXPECT_EQ(real_of("1" + std::string(400, '0') + ".0"), INFINITY);
  EXPECT_EQ(real_of("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(real_of("-0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(real_of("0." + std::string(400, '0') + "1e+99999999999999999999"), INFINITY);
  EXPECT_EQ(real_of(std::string(400, '9') + "e-99999999999999999999"), 0.0);
  EXPECT_EQ(real_of("50e9223372036854775807"), INFINITY);
  EXPECT_EQ(real_of("0.05e-9223372036854775808"), 0.0);
}

}  // namespace
}  // namespace ridge
