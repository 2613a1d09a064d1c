// report.html: the page in one file with the answers it would ask a server for, in the same JSON under the same targets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "site.h"

namespace ridge::server {

inline constexpr std::size_t kMostReportBytes = 2'900'000;

// `page` is the single-file form of the page, with one element to hold the data. What is embedded shrinks (rows, pixels, rows
// of slices) until the file is not larger than `most_bytes`; of names over 4 KB, or less where that is still too much, it has
// the beginning. The same traces give the same file.
Result<std::string> make_report(const Site& site, std::string_view page, std::size_t most_bytes = kMostReportBytes);

// The page of this build; an error that says what is missing when it has none.
Result<std::string_view> report_page();

}  // namespace ridge::server
