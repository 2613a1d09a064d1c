// Strings of a JSON text cut short: still JSON, equal ones equal and different ones different.
#include "server/short_texts.h"

#include <gtest/gtest.h>

#include <ridge/json.h>

namespace ridge::server {
namespace {

constexpr std::size_t kLongest = 100;

TEST(ShortTexts, OnlyLongStringsAreCut) {
  const std::string fits(kLongest, 'a');
  const std::string json = R"({"name": ")" + fits + R"(", "numbers": [1, 2.5, null], "empty": ""})";
  EXPECT_EQ(with_short_texts(json, kLongest), json);
  const std::string cut = with_short_texts(R"(["x", ")" + fits + R"(a", "y"])", kLongest);
  EXPECT_TRUE(cut.starts_with(R"(["x", "aaaaaaaa)")) << cut;
  EXPECT_TRUE(cut.ends_with(R"(", "y"])")) << cut;
  EXPECT_NE(cut.find(R"(a\u2026 [65 bytes more, )"), std::string::npos) << cut;
  EXPECT_LE(cut.size(), kLongest + std::string_view(R"(["x", "", "y"])").size());
  EXPECT_EQ(with_short_texts(cut, kLongest), cut);
}

TEST(ShortTexts, AreTheSameForTheSameStringOnly) {
  const auto of = [](std::string_view end) {
    return with_short_texts('"' + std::string(1'000, 'a') + std::string(end) + '"', kLongest);
  };
  EXPECT_EQ(of("0"), of("0"));
  EXPECT_NE(of("0"), of("1"));
}

// 200 quotes, each written with a backslash: 36 bytes hold 18 of them. FNV-1a of the 200.
TEST(ShortTexts, CountTheTextAndNotItsEscapes) {
  const std::string quotes(200, '"');
  const std::string expected = std::string(18, '"') + "\u2026 [182 bytes more, 4bc698d716ab99e0]";
  EXPECT_EQ(short_text(quotes, kLongest), expected);
  std::string written;
  for (int i = 0; i < 200; ++i) written += "\\u0022";
  EXPECT_NE(with_short_texts('"' + written + '"', kLongest).find("[194 bytes more, 4bc698d716ab99e0]"), std::string::npos);
}

// The name under which a reader asks for what a table shows.
TEST(ShortTexts, OfOneTextIsWhatStandsInTheJson) {
  for (const std::string_view end : {"", "\"", "\\", "\n", "<", "\u20AC"}) {
    for (const std::size_t length : {std::size_t{10}, kLongest, std::size_t{1'000}}) {
      std::string text;
      while (text.size() < length) text += "abc" + std::string(end);
      std::string json, shown;
      append_json_string(json, text);
      append_json_string(shown, short_text(text, kLongest));
      std::string cut = with_short_texts(json, kLongest);
      if (const std::size_t mark = cut.find("\\u2026"); mark != cut.npos) cut.replace(mark, 6, "\u2026");
      EXPECT_EQ(cut, shown);
    }
  }
}

// Cut between characters and between escapes, wherever these stand.
TEST(ShortTexts, AreCutBetweenCharacters) {
  for (const std::string_view piece : {R"(\u003c)", R"(\")", R"(\\)", "\u20AC", "\U0001F600"}) {
    for (std::size_t before = 0; before < piece.size(); ++before) {
      std::string text(before, 'a');
      while (text.size() <= kLongest) text += piece;
      const std::string cut = with_short_texts('"' + text + '"', kLongest);
      const std::size_t mark = cut.find(R"(\u2026)");
      ASSERT_NE(mark, std::string::npos) << cut;
      EXPECT_EQ((mark - 1 - before) % piece.size(), 0U) << cut;
      EXPECT_TRUE(text.starts_with(cut.substr(1, mark - 1))) << cut;
    }
  }
}

TEST(ShortTexts, EndAtTheirOwnQuote) {
  const std::string rest = R"(, ")" + std::string(1'000, 'a') + '"';
  for (const std::string_view text : {R"("\\")", R"("a\\\"b")", R"("\"")", R"("")"}) {
    const std::string cut = with_short_texts(std::string(text) + rest, kLongest);
    EXPECT_TRUE(cut.starts_with(std::string(text) + R"(, "aaaa)")) << cut;
    EXPECT_LE(cut.size(), text.size() + 4 + kLongest) << cut;
  }
}

// What is no JSON is not the report's, and does no harm.
TEST(ShortTexts, AnOpenStringEndsWithTheText) {
  const std::string open = '"' + std::string(1'000, 'a');
  EXPECT_LE(with_short_texts(open, kLongest).size(), kLongest + 1);
  EXPECT_EQ(with_short_texts(R"(["a\)", kLongest), R"(["a\)");
}

}  // namespace
}  // namespace ridge::server
