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

using Order = std::vector<std::size_t>;  // indices of columns as they are shown

const Cell& cell_at(const Row& row, std::size_t column) {
  static const Cell kNull;
  return column < row.size() ? row[column] : kNull;
}

bool is_long(const Table& table, std::size_t column) {
  if (table.columns[column].type != Type::text) return false;
  return std::ranges::any_of(table.rows, [&](const Row& row) {
    const auto* text = std::get_if<std::string>(&cell_at(row, column));
    return text != nullptr && display_width(*text) > kLongName;
  });
}

bool is_event_id(const Column& column) { return column.role == Role::event && column.type == Type::integer; }

Order shown_order(const Table& table) {
  const bool names_events = std::ranges::any_of(table.columns, is_event_id);
  Order order;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool is_place = is_event_id(column) || (names_events && column.role == Role::time_start);
    if (!is_place) order.push_back(i);
  }
  std::ranges::stable_partition(order, [&](std::size_t column) { return !is_long(table, column); });
  return order;
}

// Where "TOTAL" and "[N others]" are written: a text column that the row says nothing about, else any such column.
std::size_t label_place(const Table& table, const Order& order, const Row& row, const std::vector<std::size_t>& not_there) {
  const auto find = [&](bool only_text) {
    for (std::size_t place = 0; place < order.size(); ++place) {
      const bool fits = is_null(cell_at(row, order[place])) && (!only_text || table.columns[order[place]].type == Type::text);
      if (fits && std::ranges::count(not_there, place) == 0) return place;
    }
    return order.size();
  };
  const std::size_t place = find(true);
  return place < order.size() ? place : find(false);
}

// In a sum an unknown cell is one that has no sum, and is left blank.
std::vector<std::string> sum_texts(const Table& table, const Order& order, const Row& row, const std::string& label,
                                   std::size_t place) {
  std::vector<std::string> texts;
  for (std::size_t column : order) {
    const Cell& cell = cell_at(row, column);
    texts.push_back(is_null(cell) ? std::string() : cell_text(cell, table.columns[column].unit));
  }
  if (place < texts.size()) {
    texts[place] = label;
  } else if (!texts.empty()) {
    texts.back() += "  " + label;
  }
  return texts;
}

// The important ones in their order, then those with some value, from left to right, then the others.
std::size_t rank_of(const Table& table, std::size_t column, bool known) {
  const auto place = std::ranges::find(table.important, table.columns[column].name);
  if (place != table.important.end()) return static_cast<std::size_t>(place - table.important.begin());
  return table.important.size() + column + (known ? 0 : table.columns.size());
}

GridColumn grid_column(const Table& table, std::size_t column) {
  const Type type = table.columns[column].type;
  const bool known = std::ranges::any_of(table.rows, [&](const Row& row) { return !is_null(cell_at(row, column)); }) ||
                     !is_null(cell_at(table.folded_row, column));
  return {heading(table.columns[column]), type == Type::integer || type == Type::number, known, is_long(table, column),
          rank_of(table, column, known)};
}

}  // namespace

Grid make_grid(const Table& table, const std::vector<std::size_t>& not_there) {
  const Order order = shown_order(table);
  Grid grid;
  for (std::size_t column : order) grid.columns.push_back(grid_column(table, column));
  for (const Row& row : table.rows) {
    auto& texts = grid.rows.emplace_back();
    for (std::size_t column : order) texts.push_back(cell_text(cell_at(row, column), table.columns[column].unit));
  }
  const auto add_sum = [&](const Row& row, const std::string& label) {
    const std::size_t place = label_place(table, order, row, not_there);
    grid.rows.push_back(sum_texts(table, order, row, label, place));
    grid.label_columns.push_back(std::min(place, order.size() - 1));
  };
  grid.has_others = table.others > 0;
  grid.has_total = table.total.has_value();
  if (grid.has_others) {
    const std::string label = fmt::format("[{} {}]", format_count(table.others), table.others == 1 ? "other" : "others");
    add_sum(table.others_row, label);
  }
  if (table.folded > 0) {
    grid.has_others = true;
    add_sum(table.folded_row, fmt::format("[{} unchanged]", format_count(table.folded)));
  }
  if (grid.has_total) add_sum(*table.total, "TOTAL");
  return grid;
}

std::vector<const Table*> in_reading_order(const Report& report) {
  std::vector<const Table*> tables;
  tables.reserve(report.tables.size());
  for (const Table& table : report.tables) tables.push_back(&table);
  std::stable_partition(tables.begin(), tables.end(), [](const Table* table) { return table->leads; });
  return tables;
}

bool is_key_value(const Table& table) { return table.key_value && table.rows.size() == 1; }

Grid make_key_value_grid(const Table& table) {
  Grid grid;
  grid.columns.resize(2);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    grid.rows.push_back(
        {heading(table.columns[column]), cell_text(cell_at(table.rows.front(), column), table.columns[column].unit)});
  }
  return grid;
}

}  // namespace ridge::render
