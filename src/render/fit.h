// How a grid is laid on a terminal of so many columns: what each column may take, and which ones are left out.
#pragma once

#include <cstddef>
#include <vector>

#include "render/grid.h"

namespace ridge::render {

struct Fit {
  std::vector<std::size_t> shown;   // columns of the grid, in order
  std::vector<std::size_t> widths;  // one per shown column
  std::vector<std::size_t> hidden;  // columns for which there was no room
};

// With `width` 0 every column is shown whole. Else columns are taken by rank as long as there is room, long names narrowed; the
// most important one is always there.
Fit fit_columns(const Grid& grid, std::size_t width, std::size_t indent, std::size_t gap);

}  // namespace ridge::render
