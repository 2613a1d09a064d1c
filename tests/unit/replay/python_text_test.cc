// Text as Python literals: whatever the text, one literal of printable ASCII comes out, and the tokenizer reads one string.
#include "replay/python_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/python_tokens.h"

namespace ridge {
namespace {

std::string literal(std::string_view text) {
  std::string out;
  append_python_string(out, text);
  return out;
}

std::string block(std::string_view text) {
  std::string out;
  append_python_block(out, text);
  return out;
}

TEST(PythonText, EscapesWhatEndsOrChangesALiteral) {
  EXPECT_EQ(literal("aten::mm"), R"("aten::mm")");
  EXPECT_EQ(literal("a\"b'c\\"), R"("a\"b'c\\")");
  EXPECT_EQ(literal("\"\"\"\nimport os"), R"("\"\"\"\nimport os")");
  EXPECT_EQ(literal("\\N{BULLET} \\u0041 {x} %s"), R"("\\N{BULLET} \\u0041 {x} %s")");
  EXPECT_EQ(literal(std::string_view("\0\r\t\x7f", 4)), R"("\x00\x0d\x09\x7f")");
  EXPECT_EQ(literal("\u2028\u2029\u0085\u202e"), R"("\u2028\u2029\x85\u202e")");
  EXPECT_EQ(literal("\U0001F600"), R"("\U0001f600")");
  EXPECT_EQ(literal("\xED\xA0\x80 \xFF"), R"("\ufffd \ufffd")");  // half of a pair, and no UTF-8 at all
}

TEST(PythonText, IsOneStringTokenWhateverTheText) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (const std::string& text :
       {all, std::string("'''"), std::string("\\"), std::string("x\\\n"), std::string("\r\nimport os")}) {
    for (const std::string& written : {literal(text), "x = " + block(text)}) {
      for (const char c : written) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
      const auto lines = python_lines(written);
      ASSERT_EQ(lines.size(), 1U) << written;
      for (const PythonToken& token : lines[0].tokens) {
        const bool frame = is_op(token, "(") || is_op(token, ")") || is_op(token, "=") || is_word(token, "x");
        EXPECT_TRUE(frame || token.kind == PythonTokenKind::string) << token.text;
      }
    }
  }
}

TEST(PythonText, KeepsTheLinesOfASourceReadable) {
  EXPECT_EQ(block("import triton\nx = '\\n'\n"), "r'''import triton\nx = '\\n'\n'''");
  EXPECT_EQ(block("a = '''b'''\n"), "(\n    \"a = '''b'''\\n\"\n)");
  EXPECT_EQ(block(""), "(\n    \"\"\n)");
}

}  // namespace
}  // namespace ridge
