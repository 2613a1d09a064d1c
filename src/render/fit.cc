// Columns by importance until the width is used up; what is left over goes to shortened names.
#include "render/fit.h"

#include <algorithm>
#include <numeric>

#include "render/utf8.h"

namespace ridge::render {
namespace {

constexpr std::size_t kNarrowestName = 24;

std::vector<std::size_t> natural_widths(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    std::size_t widest = display_width(grid.columns[column].heading);
    for (const auto& row : grid.rows) widest = std::max(widest, display_width(row[column]));
    widths.push_back(widest);
  }
  return widths;
}

// Columns by how much they matter, the most important one first.
std::vector<std::size_t> by_rank(const Grid& grid) {
  std::vector<std::size_t> order(grid.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t column) { return grid.columns[column].rank; });
  return order;
}

}  // namespace

Fit fit_columns(const Grid& grid, std::size_t width, std::size_t indent, std::size_t gap) {
  const std::vector<std::size_t> wanted = natural_widths(grid);
  const std::vector<std::size_t> order = by_rank(grid);
  const auto least = [&](std::size_t column) {
    return grid.columns[column].name ? std::min(wanted[column], kNarrowestName) : wanted[column];
  };
  std::vector<std::size_t> widths(wanted.size());  // 0: hidden
  std::size_t used = indent;
  for (const std::size_t column : order) {
    const std::size_t takes = least(column) + (used == indent ? 0 : gap);
    if (width != 0 && used != indent && used + takes > width) continue;
    widths[column] = std::max<std::size_t>(1, width == 0 ? wanted[column] : least(column));
    used += takes;
  }
  // What is left goes to the names that were cut, the most important first.
  for (const std::size_t column : order) {
    if (widths[column] == 0 || used >= width) continue;
    const std::size_t more = std::min(width - used, wanted[column] - std::min(wanted[column], widths[column]));
    widths[column] += more;
    used += more;
  }
  Fit fit;
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (widths[column] == 0) {
      fit.hidden.push_back(column);
    } else {
      fit.shown.push_back(column);
      fit.widths.push_back(widths[column]);
    }
  }
  return fit;
}

}  // namespace ridge::render
