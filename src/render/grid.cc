// The order of columns, the labels of TOTAL and [N others], and key-value tables as two columns.
#include "render/grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "render/cell_text.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

// Names longer than this go to the end of the line, where they push nothing aside.
constexpr std::size_t kLongName = 32;

using Order = std::vector<std::size_t>;  // indices of the view's columns as they are shown

bool is_long(const TableView& table, std::size_t column) {
  if (table.column(column).type != Type::text) return false;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const CellView cell = table.cell(row, column);
    const auto* text = std::get_if<std::string_view>(&cell);
    if (text != nullptr && display_width(*text) > kLongName) return true;
  }
  return false;
}

bool is_event_id(const Column& column) { return column.role == Role::event && column.type == Type::integer; }

Order shown_order(const TableView& table) {
  bool names_events = false;
  for (std::size_t i = 0; i < table.columns.size(); ++i) names_events |= is_event_id(table.column(i));
  Order order;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.column(i);
    const bool is_place = is_event_id(column) || (names_events && column.role == Role::time_start);
    if (!is_place) order.push_back(i);
  }
  std::ranges::stable_partition(order, [&](std::size_t column) { return !is_long(table, column); });
  return order;
}

// Where "TOTAL" and "[N others]" are written: a text column that the row says nothing about, else any such column.
std::size_t label_place(const TableView& table, const Order& order, const Row& sums,
                        const std::vector<std::size_t>& not_there) {
  const auto find = [&](bool only_text) {
    for (std::size_t place = 0; place < order.size(); ++place) {
      const bool fits = is_null(table.sum(sums, order[place])) && (!only_text || table.column(order[place]).type == Type::text);
      if (fits && std::ranges::count(not_there, place) == 0) return place;
    }
    return order.size();
  };
  const std::size_t place = find(true);
  return place < order.size() ? place : find(false);
}

// In a sum an unknown cell is one that has no sum, and is left blank.
std::vector<std::string> sum_texts(const TableView& table, const Order& order, const Row& sums, const std::string& label,
                                   std::size_t place) {
  std::vector<std::string> texts;
  for (std::size_t column : order) {
    const CellView cell = table.sum(sums, column);
    texts.push_back(is_null(cell) ? std::string() : cell_text(cell, table.column(column).unit));
  }
  if (place < texts.size()) {
    texts[place] = label;
  } else if (!texts.empty()) {
    texts.back() += "  " + label;
  }
  return texts;
}

// A number of a device or a stream that is the same in every row tells the rows apart in nothing.
bool is_constant_id(const TableView& table, std::size_t column) {
  const Column& of = table.column(column);
  if (of.type != Type::integer || of.unit != Unit::none || table.rows.size() < 2) return false;
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    if (table.cell(row, column) != table.cell(0, column)) return false;
  }
  return true;
}

// The important ones in their order, then those with some value, from left to right, then the others; ids that do not differ
// last.
std::size_t rank_of(const TableView& table, std::size_t column, bool known) {
  if (is_constant_id(table, column)) return table.important.size() + 2 * table.columns.size() + column;
  const auto place = std::ranges::find(table.important, table.column(column).name);
  if (place != table.important.end()) return static_cast<std::size_t>(place - table.important.begin());
  return table.important.size() + column + (known ? 0 : table.columns.size());
}

GridColumn grid_column(const TableView& table, std::size_t column) {
  const Type type = table.column(column).type;
  bool known = !is_null(table.sum(table.folded_row, column));
  for (std::size_t row = 0; !known && row < table.rows.size(); ++row) known = !is_null(table.cell(row, column));
  const std::size_t rank = rank_of(table, column, known);
  return {.heading = heading(table.column(column)),
          .right = type == Type::integer || type == Type::number,
          .known = known,
          .name = is_long(table, column),
          .hinted = rank < table.important.size(),
          .rank = rank};
}

}  // namespace

Grid make_grid(const TableView& table, const std::vector<std::size_t>& not_there) {
  const Order order = shown_order(table);
  Grid grid;
  for (std::size_t column : order) grid.columns.push_back(grid_column(table, column));
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    auto& texts = grid.rows.emplace_back();
    for (std::size_t column : order) texts.push_back(cell_text(table.cell(row, column), table.column(column).unit));
  }
  const auto add_sum = [&](const Row& row, const std::string& label) {
    const std::size_t place = label_place(table, order, row, not_there);
    grid.rows.push_back(sum_texts(table, order, row, label, place));
    grid.label_columns.push_back(std::min(place, order.size() - 1));
  };
  grid.has_others = table.others > 0;
  grid.has_total = table.table->total.has_value();
  if (grid.has_others) {
    const std::string label = fmt::format("[{} {}]", format_count(table.others), table.others == 1 ? "other" : "others");
    add_sum(table.others_row, label);
  }
  if (table.folded > 0) {
    grid.has_others = true;
    add_sum(table.folded_row, fmt::format("[{} unchanged]", format_count(table.folded)));
  }
  if (grid.has_total) add_sum(*table.table->total, "TOTAL");
  return grid;
}

std::vector<const TableView*> in_reading_order(const ReportView& report) {
  std::vector<const TableView*> tables;
  tables.reserve(report.tables.size());
  for (const TableView& table : report.tables) tables.push_back(&table);
  std::stable_partition(tables.begin(), tables.end(), [](const TableView* view) { return view->table->hints.leads; });
  return tables;
}

bool is_key_value(const TableView& table) { return table.table->hints.key_value && table.rows.size() == 1; }

Grid make_key_value_grid(const TableView& table) {
  Grid grid;
  grid.columns.resize(2);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    grid.rows.push_back({heading(table.column(i)), cell_text(table.cell(0, i), table.column(i).unit)});
  }
  return grid;
}

}  // namespace ridge::render
