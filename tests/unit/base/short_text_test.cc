// Texts cut short in JSON: still JSON, equal ones equal and different ones different.
#include <gtest/gtest.h>

#include <ridge/json.h>
#include <ridge/render.h>

namespace ridge {
namespace {

constexpr std::size_t kLongestText = 100;

std::string written(std::string_view text, std::size_t longest = kLongestText) {
  std::string json;
  append_json_string(json, text, longest);
  return json;
}

TEST(ShortText, OnlyLongTextsAreCut) {
  const std::string fits(kLongestText, 'a');
  EXPECT_EQ(written(fits), '"' + fits + '"');
  EXPECT_EQ(written(fits + "a", 0), '"' + fits + "a\"");
  const std::string cut = written(fits + "a");
  EXPECT_TRUE(cut.starts_with("\"aaaaaaaa")) << cut;
  EXPECT_NE(cut.find(R"(a\u2026 [65 bytes more, )"), std::string::npos) << cut;
  EXPECT_LE(cut.size(), kLongestText + 2);
}

TEST(ShortText, IsTheSameForTheSameTextOnly) {
  const auto of = [](std::string_view end) { return written(std::string(1'000, 'a') + std::string(end)); };
  EXPECT_EQ(of("0"), of("0"));
  EXPECT_NE(of("0"), of("1"));
}

// 200 quotes, each written with a backslash: 36 bytes hold 18 of them. FNV-1a of the 200.
TEST(ShortText, CountsTheTextAndNotItsEscapes) {
  const std::string quotes(200, '"');
  EXPECT_EQ(short_text(quotes, kLongestText), std::string(18, '"') + "\u2026 [182 bytes more, 4bc698d716ab99e0]");
  EXPECT_NE(written(quotes).find("[182 bytes more, 4bc698d716ab99e0]"), std::string::npos);
  // A control character is written in six bytes: 36 hold six.
  EXPECT_NE(written(std::string(200, '\n')).find("[194 bytes more, "), std::string::npos);
}

// The name under which a reader asks for what a table shows.
TEST(ShortText, OfOneTextIsWhatStandsInTheJson) {
  for (const std::string_view end : {"", "\"", "\\", "\n", "<", "\u20AC", "\xff"}) {
    for (const std::size_t length : {std::size_t{10}, kLongestText, std::size_t{1'000}}) {
      std::string text;
      while (text.size() < length) text += "abc" + std::string(end);
      std::string cut = written(text);
      if (const std::size_t mark = cut.find("\\u2026"); mark != cut.npos) cut.replace(mark, 6, "\u2026");
      EXPECT_EQ(cut, written(short_text(text, kLongestText), 0));
    }
  }
}

// Cut between characters and between escapes, wherever these stand.
TEST(ShortText, IsCutBetweenCharacters) {
  for (const std::string_view piece : {"\x01", "\"", "\\", "\u20AC", "\U0001F600"}) {
    const std::size_t bytes = written(piece).size() - 2;
    for (std::size_t before = 0; before < bytes; ++before) {
      std::string text(before, 'a');
      while (text.size() <= kLongestText) text += piece;
      const std::string cut = written(text);
      const std::size_t mark = cut.find(R"(\u2026)");
      ASSERT_NE(mark, std::string::npos) << cut;
      EXPECT_EQ((mark - 1 - before) % bytes, 0U) << cut;
      EXPECT_TRUE(written(text, 0).starts_with(cut.substr(0, mark))) << cut;
    }
  }
}

}  // namespace
}  // namespace ridge
