// Equal calls in one row, for people: twelve rows "aten::max #1" to "#12" that differ in nothing but their place read as one,
// "aten::max x12", with their sums. JSON and CSV keep every row. Rows that did not change are left alone: they are folded into
// "[N unchanged]", which counts groups.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/diff/diff.h"
#include "base/saturating.h"

namespace ridge::diff {
namespace {

// What becomes of a column's cells when rows are taken together.
enum class Joined : std::uint8_t { same, sum, percent, unknown };

Joined joined(const Column& column) {
  if (column.name.starts_with("delta_low") || column.name.starts_with("delta_high")) return Joined::unknown;
  if (column.unit == Unit::percent) return Joined::percent;
  return column.unit == Unit::ns || column.unit == Unit::count ? Joined::sum : Joined::same;
}

void add(const Cell& cell, Cell& sum) {
  if (auto* whole = std::get_if<std::int64_t>(&sum); whole != nullptr && std::holds_alternative<std::int64_t>(cell)) {
    saturating_add(whole, std::get<std::int64_t>(cell));
  } else if (auto* number = std::get_if<double>(&sum); number != nullptr && std::holds_alternative<double>(cell)) {
    *number += std::get<double>(cell);
  }
}

// What rows must have in common: the title and every cell that is no sum.
std::string key_of(const Table& table, const Row& row, const std::string& title) {
  std::string key = title;
  for (std::size_t c = 1; c < row.size(); ++c) {
    if (joined(table.columns[c]) != Joined::same) continue;
    key += '\x1f';
    if (const auto* text = std::get_if<std::string>(&row[c])) key += *text;
    if (const auto* flag = std::get_if<bool>(&row[c])) key += *flag ? '1' : '0';
  }
  return key;
}

std::size_t column_named(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.name == name; });
  return static_cast<std::size_t>(found - table.columns.begin());
}

// delta_pct of the sums: each stands behind its delta.
void set_percentages(const Table& table, Row& row) {
  const std::size_t before = column_named(table, "time_a_ns");
  for (std::size_t c = 1; c < row.size(); ++c) {
    if (joined(table.columns[c]) != Joined::percent || before == row.size()) continue;
    const auto* delta = std::get_if<std::int64_t>(&row[c - 1]);
    const auto* time = std::get_if<std::int64_t>(&row[before]);
    row[c] = delta != nullptr && time != nullptr && *time > 0
                 ? Cell(100.0 * static_cast<double>(*delta) / static_cast<double>(*time))
                 : Cell();
  }
}

std::string name_of_many(const std::string& title, std::size_t count) {
  const bool simple = title.find(" -> ") == std::string::npos && title.find(" + ") == std::string::npos;
  return (simple ? title : "(" + title + ")") + " x" + std::to_string(count);
}

// The largest change of a row in any trace; its time where the table has no changes.
std::int64_t weight_of(const Table& table, const Row& row) {
  std::int64_t largest = -1, time = 0;
  for (std::size_t c = 1; c < row.size(); ++c) {
    const auto* value = std::get_if<std::int64_t>(&row[c]);
    if (value == nullptr || table.columns[c].unit != Unit::ns) continue;
    if (table.columns[c].name.starts_with("delta"))
      largest = std::max(largest, *value < 0 ? -std::max(*value, -INT64_MAX) : *value);
    if (table.columns[c].name.starts_with("time")) time = std::max(time, *value);
  }
  return largest >= 0 ? largest : time;
}

bool is_worth_reading(const Table& table, const Row& row) {
  return table.fold_unless.empty() ||
         std::any_of(table.fold_unless.begin(), table.fold_unless.end(),
                     [&](const std::string& name) { return row[column_named(table, name)] == Cell(true); });
}

void fold(const std::unordered_map<std::string, std::string>& titles, Table& table) {
  struct Many {
    Row row;
    std::string title;
    std::size_t count = 1;
  };
  std::vector<Many> rows;
  std::unordered_map<std::string, std::size_t> seen;
  bool any = false;
  for (const Row& row : table.rows) {
    const std::string& title = titles.at(std::get<std::string>(row[0]));
    if (is_worth_reading(table, row)) {
      const auto [it, is_new] = seen.try_emplace(key_of(table, row, title), rows.size());
      if (!is_new) {
        any = true;
        Many& many = rows[it->second];
        ++many.count;
        for (std::size_t c = 1; c < row.size(); ++c) {
          if (joined(table.columns[c]) == Joined::sum) add(row[c], many.row[c]);
          if (joined(table.columns[c]) == Joined::unknown) many.row[c] = Cell();
        }
        continue;
      }
    }
    rows.push_back({row, title});
  }
  if (!any) return;
  for (Many& many : rows) {
    if (many.count > 1) {
      many.row[0] = name_of_many(many.title, many.count);
      set_percentages(table, many.row);
    }
    table.people.push_back(std::move(many.row));
  }
  std::stable_sort(table.people.begin(), table.people.end(),
                   [&](const Row& a, const Row& b) { return weight_of(table, a) > weight_of(table, b); });
}

}  // namespace

void fold_for_people(const Diff& diff, Report& report) {
  std::unordered_map<std::string, std::string> titles;
  for (const Group& group : diff.groups) titles.emplace(group.name, group.title);
  for (Table& table : report.tables) {
    if (!table.columns.empty() && table.columns[0].name == "group") fold(titles, table);
  }
}

}  // namespace ridge::diff
