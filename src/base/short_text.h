// Texts that are too long to be repeated: their beginning, and a mark that stands for the rest and tells texts apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridge {

// How much of a text stays, at a boundary of characters.
struct Kept {
  std::size_t written = 0;  // bytes between the quotes of a JSON string
  std::size_t bytes = 0;    // of the text itself
};
Kept kept_of(std::string_view written, std::size_t longest);

// " [123 bytes more, 0123456789abcdef]". `text` is the whole one, in valid UTF-8.
std::string mark_of(std::string_view text, Kept kept);

}  // namespace ridge
