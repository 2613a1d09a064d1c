// UTF-8 for renderers: walk code points, tell how many terminal columns they take, make hostile text safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::render {

inline constexpr char32_t kReplacement = 0xFFFD;

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

// Columns on a terminal: 2 for wide East Asian characters and emoji, 0 for combining marks.
std::size_t display_width(std::string_view text);

// `text` cut to `columns` with an ellipsis, unless it fits.
std::string truncated(std::string_view text, std::size_t columns);

// `text` in lines of at most `columns`, broken at spaces; a longer word stays whole. With 0 columns one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace ridge::render
