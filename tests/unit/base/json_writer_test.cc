// The digits, escapes and commas of all JSON that ridge writes.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ridge/json.h>

namespace ridge::test {
namespace {

std::string digits_of(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

std::string quoted(std::string_view value) {
  std::string text;
  append_json_string(text, value);
  return text;
}

// Integers take a way of their own, which must not show.
TEST(JsonWriter, DoublesAsTheLibraryHasThem) {
  const double two53 = 9007199254740992;
  for (const double value : {0.0, -0.0, 5.0, -5.0, 0.1, 1e15, 1e16, 1e20, 1e300, two53, two53 - 1, 1 - two53, -two53})
    EXPECT_EQ(digits_of(value), fmt::format("{}", value));
  std::mt19937_64 random(7);
  for (int round = 0; round < 50'000; ++round) {
    const double value = std::floor(std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 64)));
    ASSERT_EQ(digits_of(value), fmt::format("{}", value));
  }
  EXPECT_EQ(digits_of(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(digits_of(std::nan("")), "null");
}

TEST(JsonWriter, Integers) {
  std::string text;
  append_json_number(text, std::numeric_limits<std::int64_t>::min());
  append_json_number(text, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(text, "-922337203685477580818446744073709551615");
}

TEST(JsonWriter, Escapes) {
  EXPECT_EQ(quoted("a\"b\\c\n\x7F"), R"("a\"b\\c\u000a\u007f")");
  EXPECT_EQ(quoted("µ漢🔥"), "\"µ漢🔥\"");
  EXPECT_EQ(quoted("a\xC3z"), "\"a\uFFFDz\"");
}

TEST(JsonWriter, CommasStandBetweenAndNowhereElse) {
  JsonWriter out;
  out.object([&] {
    out.members("id", std::int64_t{7}, "name", "aten::mm", "dtype", TextOrNull{""}, "self", std::optional<double>());
    out.key("list").array(std::vector<int>{1, 2}, [&](int each) { out.record("at", std::int64_t{each}); });
    out.key("none").array(std::vector<int>{}, [&](int) {});
    out.members("shares", std::vector<double>{0.5, 1});
  });
  EXPECT_EQ(out.take(),
            R"({"id":7,"name":"aten::mm","dtype":null,"self":null,"list":[{"at":1},{"at":2}],"none":[],"shares":[0.5,1]})");
}

}  // namespace
}  // namespace ridge::test
