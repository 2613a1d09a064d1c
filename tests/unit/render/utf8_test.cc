// Width, truncation and escapes of text that comes from a trace.
#include "render/utf8.h"

#include <gtest/gtest.h>

#include <ridge/render.h>

namespace ridge::render {
namespace {

TEST(Utf8, DisplayWidthCountsColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(display_width("🔥"), 2u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // a combining accent
}

TEST(Utf8, TruncatedFitsAndNeverSplitsACharacter) {
  EXPECT_EQ(truncated("abcdef", 6), "abcdef");
  EXPECT_EQ(truncated("abcdef", 4), "abc…");
  EXPECT_EQ(truncated("漢字漢字", 5), "漢字…");
  EXPECT_EQ(truncated("漢字漢字", 4), "漢…");
  EXPECT_EQ(truncated("abc", 1), "…");
  EXPECT_EQ(shortened_in_middle("abcdefgh", 5, 0.5), "ab…gh");
  EXPECT_EQ(shortened_in_middle("abcdefgh", 5, 0.25), "a…fgh");
  EXPECT_EQ(shortened_in_middle("abcdefgh", 8, 0.5), "abcdefgh");
  EXPECT_EQ(shortened_in_middle("漢字漢字漢字", 7, 0.5), "漢…漢字");
  EXPECT_EQ(shortened_in_middle("漢字漢字漢字", 6, 0.5), "漢…字");
  EXPECT_EQ(shortened_in_middle("abc", 1, 0.5), "…");
  EXPECT_EQ(shortened_in_middle("abc", 0, 0.5), "");
  EXPECT_EQ(truncated("abc", 0), "");
}

TEST(Utf8, PrintableKeepsOrdinaryText) { EXPECT_EQ(printable("void f<int>(µ, 漢) \\ \"q\""), "void f<int>(µ, 漢) \\ \"q\""); }

TEST(Utf8, PrintableEscapesWhatCouldDeceive) {
  EXPECT_EQ(printable(std::string("\0\t", 2)), "\\u0000\\t");
  EXPECT_EQ(printable("a\u2066b"), "a\\u2066b");     // bidirectional isolate
  EXPECT_EQ(printable("a\u200Bb"), "a\\u200bb");     // zero-width space
  EXPECT_EQ(printable("\U000E0041"), "\\u{e0041}");  // tag character
}

TEST(WithUnit, FollowsTheUnit) {
  EXPECT_EQ(with_unit(12.3e6, Unit::bytes), "12.3 MB");
  EXPECT_EQ(with_unit(1500, Unit::ns), "1.500 us");
  EXPECT_EQ(with_unit(1500, Unit::count), "1,500");
  EXPECT_EQ(with_unit(1500, Unit::none), "1500");
  EXPECT_EQ(with_unit(12.3, Unit::percent), "12.3 %");
  EXPECT_EQ(with_unit(2e12, Unit::flop), "2.00 TFLOP");
  EXPECT_EQ(with_unit(2e12, Unit::flop_per_s), "2.00 TFLOP/s");
  EXPECT_EQ(with_unit(2e12, Unit::bytes_per_s), "2.00 TB/s");
}

}  // namespace
}  // namespace ridge::render
