// Which rows of a report's tables a view shows, and in which order: for a client that lays rows out itself.
#pragma once

#include <cstdint>
#include <vector>

#include <ridge/render.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge {

// For each table of the report the indices of its rows, sorted and cut as the view asks. A column that no table has is an error
// that names the nearest ones.
Result<std::vector<std::vector<std::uint32_t>>> shown_rows(const Report& report, const View& view);

}  // namespace ridge
