// Answers made smaller for clients that accept gzip.
#pragma once

#include <string>
#include <string_view>

namespace ridge::server {

// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Empty when it did not get smaller.
std::string gzip(std::string_view bytes);

}  // namespace ridge::server
