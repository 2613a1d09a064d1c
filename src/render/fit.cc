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

std::size_t line_width(const Fit& fit, std::size_t indent, std::size_t gap) {
  const std::size_t gaps = fit.shown.empty() ? 0 : gap * (fit.shown.size() - 1);
  return std::accumulate(fit.widths.begin(), fit.widths.end(), indent + gaps);
}

// The position in fit.shown of the column to hide next; 0 when none may go.
std::size_t next_to_hide(const Grid& grid, const Fit& fit) {
  if (fit.shown.size() < 3) return 0;
  const std::size_t last = fit.shown.size() - 2;
  for (std::size_t at = last; at > 0; --at) {
    if (!grid.columns[fit.shown[at]].known) return at;
  }
  return last;
}

void hide(Fit& fit, std::size_t at) {
  const auto offset = static_cast<std::ptrdiff_t>(at);
  fit.hidden.push_back(fit.shown[at]);
  fit.shown.erase(fit.shown.begin() + offset);
  fit.widths.erase(fit.widths.begin() + offset);
}

}  // namespace

Fit fit_columns(const Grid& grid, std::size_t width, std::size_t indent, std::size_t gap) {
  Fit fit{.shown = std::vector<std::size_t>(grid.columns.size()), .widths = natural_widths(grid), .hidden = {}};
  std::iota(fit.shown.begin(), fit.shown.end(), std::size_t{0});
  if (width == 0 || grid.columns.empty() || line_width(fit, indent, gap) <= width) return fit;

  const std::size_t wanted = fit.widths.back();
  if (!grid.columns.back().right) fit.widths.back() = std::min(wanted, kNarrowestName);
  while (line_width(fit, indent, gap) > width) {
    const std::size_t at = next_to_hide(grid, fit);
    if (at == 0) break;
    hide(fit, at);
  }
  std::ranges::sort(fit.hidden);
  const std::size_t used = line_width(fit, indent, gap);
  if (used < width) fit.widths.back() = std::min(wanted, fit.widths.back() + width - used);
  return fit;
}

}  // namespace ridge::render
