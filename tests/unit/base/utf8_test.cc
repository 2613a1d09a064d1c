// Every code point encoded reads back as itself; what is no code point is refused, with as many bytes as are lost.
#include "base/utf8.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace ridge::test {
namespace {

TEST(Utf8, EveryCodePointReadsBack) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    std::string text;
    append_utf8(text, code);
    const CodePoint read = first_code_point(text);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    ASSERT_EQ(read.valid, !surrogate) << std::uint32_t{code};
    ASSERT_TRUE(read.value == (surrogate ? kReplacement : code)) << std::uint32_t{code};
    ASSERT_EQ(read.bytes, text.size()) << std::uint32_t{code};
  }
}

TEST(Utf8, EncodedByHand) {
  std::string text;
  for (const char32_t code : {U'A', U'\u00B5', U'\u6F22', U'\U0001F525'}) append_utf8(text, code);
  EXPECT_EQ(text, "A\xC2\xB5\xE6\xBC\xA2\xF0\x9F\x94\xA5");
}

TEST(Utf8, WhatIsNoCodePoint) {
  for (const std::string_view bad : {"\xFF", "\x80", "\xC3", "\xC3z", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80",
                                     "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x94"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
    EXPECT_TRUE(first_code_point(bad).value == kReplacement);
    EXPECT_TRUE(is_valid_utf8(valid_utf8(bad)));
  }
  EXPECT_EQ(valid_utf8("a\xC3z"), "a\uFFFDz");
  EXPECT_TRUE(is_valid_utf8("µ漢🔥"));
}

}  // namespace
}  // namespace ridge::test
