// Shortens the long strings of a JSON text: one name of 100 KB, repeated in every answer, would be most of a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridge::server {

// The same JSON, in which each string of more than `longest` bytes as it is written is its beginning, an ellipsis, how many
// bytes of the text are left out and a digest of the whole text, in at most `longest` bytes, of which there must be 100. Equal
// strings stay equal, and different ones different. `json` is to be the original: of what was cut before, the count and the
// digest would be those of the cut.
std::string with_short_texts(std::string_view json, std::size_t longest);

// What stands for `text` in an answer that with_short_texts has been through.
std::string short_text(std::string_view text, std::size_t longest);

}  // namespace ridge::server
