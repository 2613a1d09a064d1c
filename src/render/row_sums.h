// Sums over rows that people do not see, so that what they see still adds up to the total.
#pragma once

#include <cstddef>

#include "render/report_view.h"

namespace ridge::render {

// Over the rows [first, end) of the view, one cell per column of the table. Only a column whose rows add up to the total has a
// meaningful sum; a mean or a maximum stays unknown.
Row sums_of(const TableView& view, std::size_t first, std::size_t end);

}  // namespace ridge::render
