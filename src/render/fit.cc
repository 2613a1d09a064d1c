// Columns by importance until the width is used up; what is left over goes to shortened names.
#include "render/fit.h"

#include <algorithm>
#include <numeric>

#include "render/utf8.h"

namespace ridge::render {
namespace {

constexpr std::size_t kNarrowestName = 24;
// In a file, beside the name: a pager of usual width begins the name on its first page. A table that takes hardly more is
// whole.
constexpr std::size_t kReadableColumns = 100;
constexpr std::size_t kReadableWhole = 160;

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

// The name that stands last and may be as long as it is: the longest of those that matter, else of all; none: no column.
std::size_t free_name(const Grid& grid, const std::vector<std::size_t>& order, const std::vector<std::size_t>& wanted) {
  std::size_t found = grid.columns.size();
  for (const std::size_t column : order) {
    if (!grid.columns[column].name) continue;
    const bool none = found == grid.columns.size();
    const bool matters = none || grid.columns[column].hinted || !grid.columns[found].hinted;
    if (none || (matters && wanted[column] > wanted[found])) found = column;
  }
  return found;
}

Fit fit_of(const std::vector<std::size_t>& widths, std::size_t last) {  // 0: hidden
  Fit fit;
  const auto show = [&](std::size_t column) {
    fit.shown.push_back(column);
    fit.widths.push_back(widths[column]);
  };
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (widths[column] == 0) {
      fit.hidden.push_back(column);
    } else if (column != last) {
      show(column);
    }
  }
  if (last < widths.size()) show(last);
  return fit;
}

}  // namespace

Fit fit_columns(const Grid& grid, std::size_t width, std::size_t indent, std::size_t gap, bool wide) {
  const std::vector<std::size_t> wanted = natural_widths(grid);
  const std::vector<std::size_t> order = by_rank(grid);
  const bool in_file = width == 0 && !wide;
  const std::size_t free = in_file ? free_name(grid, order, wanted) : grid.columns.size();
  std::size_t beside = indent;
  for (std::size_t column = 0; column < wanted.size(); ++column) beside += column == free ? 0 : wanted[column] + gap;
  const std::size_t room = !in_file ? width : beside > kReadableWhole ? kReadableColumns : 0;
  const auto least = [&](std::size_t column) {
    if (column == free) return std::size_t{0};
    return grid.columns[column].name && !in_file ? std::min(wanted[column], kNarrowestName) : wanted[column];
  };
  std::vector<std::size_t> widths(wanted.size());
  std::size_t used = indent;
  for (const std::size_t column : order) {
    const std::size_t takes = least(column) + (used == indent ? 0 : gap);
    if (room != 0 && used != indent && column != free && used + takes > room) continue;
    widths[column] = std::max<std::size_t>(1, room == 0 || column == free ? wanted[column] : least(column));
    used += takes;
  }
  // What is left goes to the names that were cut, the most important first.
  for (const std::size_t column : order) {
    if (widths[column] == 0 || used >= room) continue;
    const std::size_t more = std::min(room - used, wanted[column] - std::min(wanted[column], widths[column]));
    widths[column] += more;
    used += more;
  }
  return fit_of(widths, free);
}

}  // namespace ridge::render
