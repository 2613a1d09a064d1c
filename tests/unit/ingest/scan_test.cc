// The searches 16 bytes at a time against ones byte by byte, on random text at every alignment and end.
#include "ingest/scan.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace ridge {
namespace {

const char* plain_skip_string(const char* p, const char* end) {
  for (; p < end; ++p) {
    if (*p == '"') return p + 1;
    if (*p == '\\' && ++p >= end) return nullptr;
  }
  return nullptr;
}

const char* plain_skip_nested(const char* p, const char* end) {
  int depth = 0;
  while (p < end) {
    const char c = *p++;
    if (c == '"') {
      p = plain_skip_string(p, end);
      if (p == nullptr) return nullptr;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return p;
    }
  }
  return nullptr;
}

// Random text of the bytes that matter, with what lies behind its end made of them too: nothing there may be taken.
struct Text {
  Text(std::mt19937_64& random, std::size_t size) : bytes(size + 2 * kPadding, ' ') {
    constexpr std::string_view kBytes = "\"\\[]{} a,:\n\xFF";
    const std::size_t density = 1 + random() % 20;
    for (char& c : bytes) {
      if (random() % density == 0) c = kBytes[random() % kBytes.size()];
    }
    begin = bytes.data() + random() % 16;
    end = begin + size;
  }
  std::string shown() const { return {static_cast<const char*>(begin), end}; }

  std::string bytes;
  char* begin;
  const char* end;
};

TEST(Scan, StringEnds) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200'000; ++i) {
    const Text text(random, random() % 80);
    ASSERT_EQ(skip_string(text.begin, text.end), plain_skip_string(text.begin, text.end)) << text.shown();
  }
}

TEST(Scan, NestedEnds) {
  std::mt19937_64 random(12);
  int closed = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Text text(random, 1 + random() % 120);
    *text.begin = random() % 2 ? '[' : '{';
    const char* expected = plain_skip_nested(text.begin, text.end);
    ASSERT_EQ(skip_nested(text.begin, text.end), expected) << text.shown();
    closed += expected != nullptr;
  }
  EXPECT_GT(closed, 20'000);
}

TEST(Scan, QuoteOrBackslash) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 100'000; ++i) {
    const Text text(random, random() % 80);
    const char* expected = text.begin;
    while (expected < text.end && *expected != '"' && *expected != '\\') ++expected;
    ASSERT_EQ(find_quote_or_backslash(text.begin, text.end), expected);
  }
}

TEST(Scan, Space) {
  const std::string text = " \t\r\n x";
  EXPECT_EQ(skip_space(text.data(), text.data() + text.size()), text.data() + 5);
  EXPECT_EQ(skip_space(text.data(), text.data() + 3), text.data() + 3);
  EXPECT_FALSE(is_space('\0'));
  EXPECT_FALSE(is_space('\v'));
}

}  // namespace
}  // namespace ridge
