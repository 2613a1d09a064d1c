// Text on a terminal: how many columns it takes, cut and wrapped to fit. Code points are base/utf8.h's business.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace ridge::render {

// Columns on a terminal: 2 for wide East Asian characters and emoji, 0 for combining marks.
std::size_t display_width(std::string_view text);

// `text` cut to `columns` with an ellipsis, unless it fits.
std::string truncated(std::string_view text, std::size_t columns);

// `text` cut to `columns` in its middle, unless it fits: both ends stay, `head_share` of what is shown from its beginning.
std::string shortened_in_middle(std::string_view text, std::size_t columns, double head_share);

// `text` in lines of at most `columns`, broken at spaces; a longer word stays whole. With 0 columns one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace ridge::render
