// gzip(): a text as small as it gets, for what is written once and kept: the slices inside a report.
#pragma once

#include <string>
#include <string_view>

namespace ridge::server {

// Empty when it did not get smaller.
std::string gzip(std::string_view text);

}  // namespace ridge::server
