// Decoding with repair and validation: valid texts, every kind of damage, brackets of any depth.
#include "ingest/json_text.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace ridge {
namespace {

struct Decoded {
  std::string text;
  Repairs repairs;
};

Decoded decode(std::string_view raw) {
  Decoded decoded;
  decoded.repairs = decode_string(raw, &decoded.text);
  return decoded;
}

void expect_valid(std::string_view raw, std::string_view text) {
  const Decoded decoded = decode(raw);
  EXPECT_EQ(decoded.text, text);
  EXPECT_FALSE(decoded.repairs.any()) << raw;
}

void expect_mended(std::string_view raw, std::string_view text, Problem problem) {
  const Decoded decoded = decode(raw);
  EXPECT_EQ(decoded.text, text);
  Repairs expected;
  expected.add(problem);
  EXPECT_EQ(decoded.repairs.bits, expected.bits) << raw;
}

TEST(DecodeString, Valid) {
  expect_valid("", "");
  expect_valid("plain", "plain");
  expect_valid(R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t");
  expect_valid(R"(\u0041\u00e9\u20AC)", "A\u00e9\u20ac");
  expect_valid(R"(\u0000)", std::string_view("\0", 1));
  expect_valid(R"(\ud83d\ude00)", "\U0001F600");
  expect_valid("\u00e9\u20ac\U0001F600\x7F", "\u00e9\u20ac\U0001F600\x7F");
}

TEST(DecodeString, LoneSurrogates) {
  expect_mended(R"(\ud800)", "\uFFFD", Problem::lone_surrogate);
  expect_mended(R"(\udfffx)", "\uFFFDx", Problem::lone_surrogate);
  expect_mended(R"(\ud800\ud800\udc00)", "\uFFFD\U00010000", Problem::lone_surrogate);
  expect_mended(R"(\ud83d\n)", "\uFFFD\n", Problem::lone_surrogate);
}

TEST(DecodeString, InvalidUtf8) {
  expect_mended("\xFF", "\uFFFD", Problem::invalid_utf8);
  expect_mended("a\xC3", "a\uFFFD", Problem::invalid_utf8);                              // cut
  expect_mended("\xC0\xAF", "\uFFFD\uFFFD", Problem::invalid_utf8);                      // overlong
  expect_mended("\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD", Problem::invalid_utf8);            // a surrogate
  expect_mended("\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", Problem::invalid_utf8);  // beyond U+10FFFF
  expect_mended("\xE0\x80\x80z", "\uFFFD\uFFFD\uFFFDz", Problem::invalid_utf8);
}

TEST(DecodeString, UnknownEscapesMeanThatNothingIsEscaped) {
  expect_mended(R"(C:\torch\nn\cuda)", R"(C:\torch\nn\cuda)", Problem::invalid_escape);
  expect_mended(R"(a\xb\"c\\d)", R"(a\xb"c\d)", Problem::invalid_escape);
  expect_mended(R"(\u12)", R"(\u12)", Problem::invalid_escape);
  expect_mended("end\\", "end\\", Problem::invalid_escape);
}

TEST(DecodeString, ControlCharacters) {
  expect_mended("a\nb\x01", "a\nb\x01", Problem::control_character);
  expect_mended(std::string_view("\0", 1), std::string_view("\0", 1), Problem::control_character);
}

std::string compact(std::string_view raw) {
  std::string out;
  return compact_json(raw, &out) ? out : "(invalid)";
}

TEST(CompactJson, Valid) {
  EXPECT_EQ(compact("[]"), "[]");
  EXPECT_EQ(compact(" [ 1 , -2.5e3 ,\n\"a b\" , { } , [ [ ] ] , true , false , null ] "),
            "[1,-2.5e3,\"a b\",{},[[]],true,false,null]");
  EXPECT_EQ(compact(R"({ "a" : { "b" : [ ] } , "c" : "\" \\" })"), R"({"a":{"b":[]},"c":"\" \\"})");
  EXPECT_EQ(compact("5"), "5");
  EXPECT_EQ(compact("\"x\""), "\"x\"");
}

TEST(CompactJson, Invalid) {
  for (const char* raw :
       {"",          " ",          "[",     "]",          "[1,]",      "[,1]",   "[1 2]",         "{1:2}", "{\"a\"}",
        "{\"a\":}",  "{\"a\":1,}", "{,}",   "[1}",        "{\"a\":1]", "[nan]",  "[01]",          "[1] 2", "[\"a]",
        "[\"\\x\"]", "[\"\n\"]",   "[tru]", "[\"\xFF\"]", "{\"a\" 1}", "[1,,2]", "[\"a\" \"b\"]", "[\"\\"}) {
    EXPECT_EQ(compact(raw), "(invalid)") << raw;
  }
}

TEST(CompactJson, AnyDepth) {
  const std::string deep = std::string(3'000'000, '[') + std::string(3'000'000, ']');
  EXPECT_EQ(compact(deep), deep);
  EXPECT_EQ(compact(deep + "]"), "(invalid)");
}

TEST(CompactJson, EachBracketClosesItsOwn) {
  // Lists and objects in turns of three, deeper than a word has bits; then each closing bracket in turn made one of the other
  // kind.
  std::string open, close;
  for (int depth = 0; depth < 200; ++depth) {
    const bool object = depth % 3 != 0;
    open += object ? R"({"a":)" : "[";
    close += object ? '}' : ']';
  }
  std::reverse(close.begin(), close.end());
  EXPECT_EQ(compact(open + "1" + close), open + "1" + close);
  for (std::size_t i = 0; i < close.size(); ++i) {
    std::string wrong = close;
    wrong[i] = close[i] == '}' ? ']' : '}';
    EXPECT_EQ(compact(open + "1" + wrong), "(invalid)") << i;
  }
}

}  // namespace
}  // namespace ridge

namespace ridge {
namespace {

TEST(PlainText, IsWhatDecodingWouldLeaveAlone) {
  // Every byte at every place of a text longer than a word, against the decoder itself.
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 19; ++at) {
      std::string raw(19, 'a');
      raw[at] = static_cast<char>(byte);
      std::string decoded;
      const bool untouched = !decode_string(raw, &decoded).any() && decoded == raw;
      EXPECT_TRUE(untouched || !is_plain_text(raw)) << byte << " at " << at;
      const bool printable = byte >= 0x20 && byte < 0x7F && byte != '\\';
      EXPECT_TRUE(is_plain_text(raw) || !printable) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace ridge
