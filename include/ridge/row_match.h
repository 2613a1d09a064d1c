// Which rows of a report's table a regular expression lets through: what a client that has the rows filters them with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ridge/render.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge {

// The rows, by their place in the view, of which some text matches an RE2 expression in any case. An error says what is wrong
// with it.
Result<std::vector<std::uint32_t>> matching_rows(const Report& report, std::string_view table, std::string_view expression,
                                                 const View& view);

}  // namespace ridge
