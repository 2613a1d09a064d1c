// Answers made smaller for clients that accept gzip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge::server {

// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Empty when it did not get smaller. `smallest`: for what is written once and kept.
enum class Effort : std::uint8_t { quick, smallest };
std::string gzip(std::string_view bytes, Effort effort = Effort::quick);

}  // namespace ridge::server
