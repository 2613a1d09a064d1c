// Rows are joined by title and by every cell that is no figure; figures are summed, percentages of the sums computed anew. What
// grew and what shrank stay apart: their sum would say that nothing changed.
#include "render/join_rows.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/saturating.h"
#include "render/row_order.h"

namespace ridge::render {
namespace {

// What becomes of a column's cells when rows are taken together.
enum class Joined : std::uint8_t { same, sum, percent, unknown };

Joined joined(const Table& table, std::size_t column) {
  const Column& c = table.columns[column];
  if (std::ranges::find(table.hints.joined.unknown, c.name) != table.hints.joined.unknown.end()) return Joined::unknown;
  if (c.unit == Unit::percent) return Joined::percent;
  return c.unit == Unit::ns || c.unit == Unit::count ? Joined::sum : Joined::same;
}

void add(const CellView& cell, Cell& sum) {
  if (auto* whole = std::get_if<std::int64_t>(&sum); whole != nullptr && std::holds_alternative<std::int64_t>(cell)) {
    saturating_add(whole, std::get<std::int64_t>(cell));
  } else if (auto* number = std::get_if<double>(&sum); number != nullptr && std::holds_alternative<double>(cell)) {
    *number += std::get<double>(cell);
  }
}

// What rows must have in common: the title, every cell that is no figure, and the sign of the figures that they are ordered by.
// The first column is told by the title.
std::string key_of(const Table& table, std::size_t row, std::string_view title) {
  std::string key(title);
  for (const std::size_t c : columns_named(table, table.hints.joined.ordered_by)) {
    const CellView cell = table.cell(row, c);
    const auto* value = std::get_if<std::int64_t>(&cell);
    key += value != nullptr && *value < 0 ? '-' : '+';
  }
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    if (joined(table, c) != Joined::same) continue;
    const CellView cell = table.cell(row, c);
    key += '\x1f';
    if (const auto* text = std::get_if<std::string_view>(&cell)) key += *text;
    if (const auto* flag = std::get_if<bool>(&cell)) key += *flag ? '1' : '0';
  }
  return key;
}

// Percentages of the sums: each is of the figure before it.
void set_percentages(const Table& table, Row& row) {
  const auto whole = columns_named(table, {table.hints.joined.percent_of});
  if (whole.empty()) return;
  for (std::size_t c = 1; c < row.size(); ++c) {
    if (joined(table, c) != Joined::percent) continue;
    const auto* part = std::get_if<std::int64_t>(&row[c - 1]);
    const auto* of = std::get_if<std::int64_t>(&row[whole.front()]);
    row[c] = part != nullptr && of != nullptr && *of > 0 ? Cell(100.0 * static_cast<double>(*part) / static_cast<double>(*of))
                                                         : Cell();
  }
}

std::string name_of_many(std::string_view title, std::size_t count) {
  const bool simple = title.find(" -> ") == title.npos && title.find(" + ") == title.npos;
  return (simple ? std::string(title) : "(" + std::string(title) + ")") + " x" + std::to_string(count);
}

// The largest absolute value in any of these columns.
std::int64_t weight_of(const TableView& view, std::uint32_t row, const std::vector<std::size_t>& columns) {
  std::int64_t largest = 0;
  for (const std::size_t column : columns) {
    const CellView cell = view.cell_of(row, column);
    const auto* value = std::get_if<std::int64_t>(&cell);
    if (value != nullptr) largest = std::max(largest, *value < 0 ? -std::max(*value, -INT64_MAX) : *value);
  }
  return largest;
}

struct Many {
  std::vector<std::uint32_t> rows;  // of the table
  std::string_view title;
};

// Rows that are equal, in the order of the first of each.
std::vector<Many> equal_rows(const TableView& view) {
  const Table& table = *view.table;
  const std::vector<std::size_t> flags = columns_named(table, table.hints.fold_unless);
  std::vector<Many> all;
  std::unordered_map<std::string, std::size_t> seen;
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    const std::string_view title = table.hints.joined.titles.text(row).value_or("");
    if (table.hints.fold_unless.empty() || any_true(view, row, flags)) {
      const auto [it, is_new] = seen.try_emplace(key_of(table, row, title), all.size());
      if (!is_new) {
        all[it->second].rows.push_back(row);
        continue;
      }
    }
    all.push_back({{row}, title});
  }
  return all;
}

Row row_of(const Table& table, const Many& many) {
  Row out = table.row(many.rows.front());
  out[0] = name_of_many(many.title, many.rows.size());
  for (std::size_t c = 1; c < out.size(); ++c) {
    const Joined how = joined(table, c);
    if (how == Joined::unknown) out[c] = Cell();
    for (std::size_t i = 1; how == Joined::sum && i < many.rows.size(); ++i) add(table.cell(many.rows[i], c), out[c]);
  }
  set_percentages(table, out);
  return out;
}

}  // namespace

void join_equal_rows(TableView& view) {
  const Table& table = *view.table;
  if (table.hints.joined.titles.size() != table.size() || table.empty()) return;
  const std::vector<Many> all = equal_rows(view);
  if (all.size() == table.size()) return;
  view.rows.clear();
  for (const Many& many : all) {
    const bool one = many.rows.size() == 1;
    view.rows.push_back(one ? many.rows.front() : static_cast<std::uint32_t>(table.size() + view.joined.size()));
    if (!one) view.joined.push_back(row_of(table, many));
  }
  const std::vector<std::size_t> columns = columns_named(table, table.hints.joined.ordered_by);
  std::ranges::stable_sort(view.rows, std::ranges::greater{}, [&](std::uint32_t row) { return weight_of(view, row, columns); });
}

}  // namespace ridge::render
