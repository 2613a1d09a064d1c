// How a grid is laid on a terminal of so many columns, or in a file: what each column may take, and which ones are left out.
#pragma once

#include <cstddef>
#include <vector>

#include "render/grid.h"

namespace ridge::render {

struct Fit {
  std::vector<std::size_t> shown;   // columns of the grid, from left to right
  std::vector<std::size_t> widths;  // one per shown column
  std::vector<std::size_t> hidden;  // columns for which there was no room
};

// Without a `width` and with `wide` every column is shown whole. Else columns are taken by rank as long as there is room; the
// most important one is always there. On a terminal of `width` columns long names are narrowed. Elsewhere (0) all is whole: the
// most important long name, which stands last, takes what it takes, and the others have room as on a page that is read without
// scrolling.
Fit fit_columns(const Grid& grid, std::size_t width, std::size_t indent, std::size_t gap, bool wide = true);

}  // namespace ridge::render
