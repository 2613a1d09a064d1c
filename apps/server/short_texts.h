// Shortens the long strings of a JSON text: one name of 100 KB, repeated in every answer, would be most of a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridge::server {

// The same JSON, in which each string of more than `longest` bytes (escapes as they are written) is its beginning, an ellipsis, how many bytes are left
// out and a digest of the whole, in at most `longest` bytes, of which there must be 100. Equal strings stay equal, and different ones different.
std::string with_short_texts(std::string_view json, std::size_t longest);

}  // namespace ridge::server
