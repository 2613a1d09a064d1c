// Tables for people: aligned columns, numbers with units, a title over each table. Only the result: diagnostics are the
// client's.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "render/cell_text.h"
#include "render/fit.h"
#include "render/formats.h"
#include "render/plot_text.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

struct Page {
  std::string text;
  bool color;
  std::size_t width;
  bool wide;

  void line(std::string_view content, std::string_view style = {}) {
    content = content.substr(0, content.find_last_not_of(' ') + 1);
    const bool styled = color && !style.empty();
    text += styled ? fmt::format("{}{}{}\n", style, content, kReset) : fmt::format("{}\n", content);
  }
};

// Names are cut in the middle: what tells kernels apart, tiles and suffixes, stands anywhere in them. Of these shares of the
// beginning each column takes the first that leaves the most names different from one another.
constexpr double kHeadShares[] = {0.5, 0.25, 0.75, 0.1, 0.9};

double head_share_of(const Grid& grid, std::size_t column, std::size_t width) {
  double best = kHeadShares[0];
  std::size_t most = 0;
  for (const double share : kHeadShares) {
    std::unordered_set<std::string> shown;
    for (const auto& row : grid.rows) shown.insert(shortened_in_middle(row[column], width, share));
    if (shown.size() > most) {
      most = shown.size();
      best = share;
    }
  }
  return best;
}

// By shown column.
std::vector<double> head_shares(const Grid& grid, const Fit& fit) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < fit.shown.size(); ++i) {
    const bool cut =
        std::ranges::any_of(grid.rows, [&](const auto& row) { return display_width(row[fit.shown[i]]) > fit.widths[i]; });
    shares.push_back(cut ? head_share_of(grid, fit.shown[i], fit.widths[i]) : kHeadShares[0]);
  }
  return shares;
}

std::string line_of(const std::vector<std::string>& texts, const Grid& grid, const Fit& fit, std::span<const double> shares) {
  std::string line(kIndent, ' ');
  for (std::size_t i = 0; i < fit.shown.size(); ++i) {
    const std::string text = shortened_in_middle(texts[fit.shown[i]], fit.widths[i], shares[i]);
    const std::string padding(fit.widths[i] - std::min(fit.widths[i], display_width(text)), ' ');
    if (i > 0) line.append(kGap, ' ');
    line += grid.columns[fit.shown[i]].right ? padding + text : text + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void add_hidden_note(Page& page, const Grid& grid, const Fit& fit) {
  if (fit.hidden.empty()) return;
  std::vector<std::string_view> names;
  names.reserve(fit.hidden.size());
  for (std::size_t column : fit.hidden) names.push_back(grid.columns[column].heading);
  const std::string_view columns = names.size() == 1 ? "column" : "columns";
  std::string note = fmt::format("(--wide shows {} more {}: {})", names.size(), columns, fmt::join(names, ", "));
  if (page.width != 0) note = truncated(note, page.width - std::min(page.width, kIndent));
  page.line(std::string(kIndent, ' ') + note, kDim);
}

// What stands under a row: its sentences, the first one bare, the others behind their column's name.
void add_sentences(Page& page, const TableView& table, std::size_t row, std::size_t indent) {
  bool first = true;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.column(i).sentence) continue;
    const std::string label = std::exchange(first, false) ? "" : table.column(i).name + ": ";
    const CellView cell = table.cell(row, i);
    if (is_null(cell)) continue;
    const std::size_t room = page.width > indent ? page.width - indent : 0;
    for (const std::string& line : wrapped(label + cell_text(cell, Unit::none), room))
      page.line(std::string(indent, ' ') + line);
  }
}

TableView without_sentences(const TableView& table) {
  return with_columns(table, [&](std::size_t column) { return !table.table->columns[column].sentence; });
}

struct LaidOut {
  Grid grid;
  Fit fit;
};

// A sum without its label reads as one more row: labels move to columns that are shown. A label may widen a column until there
// is no room for it any more, so this is tried until it settles; each time some column is ruled out.
LaidOut lay_out(const TableView& table, std::size_t width, bool wide) {
  std::vector<std::size_t> not_there;
  for (;;) {
    LaidOut out{make_grid(table, not_there), {}};
    out.fit = fit_columns(out.grid, width, kIndent, kGap, wide);
    const std::size_t before = not_there.size();
    for (const std::size_t column : out.grid.label_columns) {
      const auto ruled_out = [&](const std::vector<std::size_t>& columns) { return std::ranges::count(columns, column) > 0; };
      if (ruled_out(out.fit.hidden) && !ruled_out(not_there)) not_there.push_back(column);
    }
    if (not_there.size() == before) return out;
  }
}

void add_table(Page& page, const TableView& table) {
  const auto [grid, fit] = lay_out(without_sentences(table), page.width, page.wide);
  if (table.is_empty()) {
    page.line("  (none)", kDim);
    return;
  }
  std::vector<std::string> headings;
  headings.reserve(grid.columns.size());
  for (const GridColumn& column : grid.columns) headings.push_back(column.heading);
  const std::vector<double> shares = head_shares(grid, fit);
  page.line(line_of(headings, grid, fit, shares), kBold);
  // Under the second column where the first is a number, else a little to the right of the first.
  const std::size_t under = kIndent + (grid.columns.front().right ? fit.widths.front() + kGap : kIndent);
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    const bool is_total = grid.has_total && i + 1 == grid.rows.size();
    page.line(line_of(grid.rows[i], grid, fit, shares), is_total ? kBold : std::string_view());
    if (i < table.rows.size()) add_sentences(page, table, i, under);
  }
  add_hidden_note(page, grid, fit);
}

// Values are never cut here: a terminal wraps the one line that is too long.
// What is not known is named on one line behind what is.
void add_key_values(Page& page, const TableView& table) {
  const auto is_known = [&](std::size_t column) { return !is_null(table.cell_of(table.rows.front(), column)); };
  std::string unknown;
  for (const std::size_t column : table.columns) {
    if (!is_known(column)) unknown += (unknown.empty() ? "" : ", ") + table.table->columns[column].name;
  }
  const Grid grid = make_key_value_grid(with_columns(table, is_known));
  const Fit fit = fit_columns(grid, 0, kIndent, kGap);
  const std::vector<double> shares = head_shares(grid, fit);
  for (const auto& row : grid.rows) page.line(line_of(row, grid, fit, shares));
  if (!unknown.empty()) page.line("  (not known: " + printable(unknown) + ")", kDim);
}

// Pictures belong to the first table and stand under it.
void add_plots(Page& page, const std::vector<Plot>& plots) {
  for (const Plot& plot : plots) {
    page.line("");
    for (const std::string& line : plot_lines(plot, page.width)) page.line(line);
  }
}

// A curve has no place in a table for people; its extent tells whether a look at the JSON is worth it.
void add_series(Page& page, const Series& series) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const auto& [time, value] : series.points) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  page.line(fmt::format("  {}  {} points, {} to {}", printable(series.name),
                        format_count(static_cast<std::int64_t>(series.points.size())), with_unit(least, series.unit),
                        with_unit(most, series.unit)));
}

}  // namespace

Result<void> write_terminal(const ReportView& view, const RenderOptions& options, const Writer& write) {
  const Report& report = *view.report;
  const auto width = static_cast<std::size_t>(std::max(options.width, 0));
  Page page{.text = {}, .color = options.color, .width = width, .wide = options.wide};
  if (!report.headline.empty()) page.line(printable(report.headline));
  for (const TableView* table : in_reading_order(view)) {
    if (!page.text.empty()) page.line("");
    page.line(printable(table->table->name), kBold);
    is_key_value(*table) ? add_key_values(page, *table) : add_table(page, *table);
    if (table == &view.tables.front()) add_plots(page, report.plots);
  }
  if (!report.series.empty()) {
    if (!page.text.empty()) page.line("");
    page.line("series", kBold);
    for (const Series& series : report.series) add_series(page, series);
  }
  if (!report.next.empty()) {
    if (!page.text.empty()) page.line("");
    page.line("next: " + printable(report.next), kDim);
  }
  return write(page.text);
}

}  // namespace ridge::render
