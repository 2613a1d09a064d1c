// Python source as tokens in logical lines: enough to tell what a file defines, and no more. It never fails: what is no Python
// becomes tokens of kind `other`, which nothing accepts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

enum class PythonTokenKind : std::uint8_t { name, number, string, op, other };

struct PythonToken {
  PythonTokenKind kind = PythonTokenKind::other;
  std::string_view text;  // of the source: a string with its quotes and prefix
  std::size_t at = 0;     // offset in the source
};

// A statement up to its end, or a compound statement's first line.
struct PythonLine {
  std::size_t indent = 0;          // columns; a tab counts to the next eighth
  std::size_t begin = 0, end = 0;  // in the source, with all its physical lines; `end` is behind the last newline
  std::size_t number = 1;          // of its first physical line
  std::vector<PythonToken> tokens;
};

// Blank lines and comments give no line.
std::vector<PythonLine> python_lines(std::string_view source);

bool is_op(const PythonToken& token, std::string_view op);
bool is_word(const PythonToken& token, std::string_view word);

// The text that a string token stands for; nothing understood but plain and raw strings: false for bytes and f-strings.
bool python_string_value(const PythonToken& token, std::string* value);

}  // namespace ridge
