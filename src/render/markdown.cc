// Markdown as GitHub reads it. Names of kernels are full of <, * and _, so such text stands in a code span.
#include <algorithm>

#include <fmt/format.h>

#include "render/formats.h"
#include "render/grid.h"

namespace ridge::render {
namespace {

std::string pipes_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// Inside a code span nothing is special but the fence itself and, in a table, the pipe.
std::string markdown_text(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_<>&~$#@:";
  const bool plain = text.find_first_of(kSpecial) == std::string_view::npos && text.find("](") == std::string_view::npos;
  if (plain) return pipes_escaped(text);
  const std::string fence(longest_run_of_backticks(text) + 1, '`');
  const std::string_view pad = text.starts_with('`') || text.ends_with('`') ? " " : "";
  return fmt::format("{}{}{}{}{}", fence, pad, pipes_escaped(text), pad, fence);
}

void append_line(std::string& out, const std::vector<std::string>& cells) {
  out += '|';
  for (const std::string& cell : cells) out += cell.empty() ? "  |" : fmt::format(" {} |", cell);
  out += '\n';
}

void append_grid(std::string& out, const Grid& grid) {
  std::vector<std::string> headings;
  std::vector<std::string> rules;
  for (const GridColumn& column : grid.columns) {
    headings.push_back(pipes_escaped(column.heading));
    rules.emplace_back(column.right ? "---:" : "---");
  }
  append_line(out, headings);
  append_line(out, rules);
  for (const auto& row : grid.rows) {
    const bool is_total = grid.has_total && &row == &grid.rows.back();
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const std::string& text : row) {
      cells.push_back(is_total && !text.empty() ? fmt::format("**{}**", markdown_text(text)) : markdown_text(text));
    }
    append_line(out, cells);
  }
}

}  // namespace

Result<void> write_markdown(const ReportView& view, const RenderOptions&, const Writer& write) {
  const Report& report = *view.report;
  std::string out;
  if (!report.headline.empty()) out += printable(report.headline) + "\n";
  for (const TableView* table : in_reading_order(view)) {
    // The first table is the answer, even if it is that there is nothing; an empty one beside it says nothing.
    if (table != &view.tables.front() && table->is_empty()) continue;
    if (!out.empty()) out += '\n';
    out += fmt::format("### {}\n\n", printable(table->table->name));
    append_grid(out, is_key_value(*table) ? make_key_value_grid(*table) : make_grid(*table));
  }
  return write(out);
}

}  // namespace ridge::render
