// UTF-8: code points out of bytes that may be damaged, and back. is_valid_utf8 and append_utf8 are declared for clients in
// <ridge/render.h>.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridge {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::string_view kReplacementText = "\uFFFD";

struct CodePoint {
  char32_t value;
  std::size_t bytes;  // at least 1
  bool valid;         // false: `value` is kReplacement and stands for these bytes
};

// The code point at the beginning of `text`, which must not be empty. Overlong forms, surrogates and cut sequences are not
// valid.
CodePoint first_code_point(std::string_view text);

// `text` with every invalid sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

bool is_valid_utf8(std::string_view text);

// `code` is at most U+10FFFF.
void append_utf8(std::string& out, char32_t code);

}  // namespace ridge
