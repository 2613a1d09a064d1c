// What a user asks of the rows (sort, limit), applied to a report before any format renders it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <ridge/render.h>

#include "base/nearest.h"

namespace ridge {
namespace {

constexpr std::string_view kTimeSuffix = "_ns";

std::optional<std::size_t> column_named(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

std::optional<double> number_in(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return std::isnan(*number) ? std::nullopt : std::optional(*number);
  return std::nullopt;
}

bool is_unknown(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return std::holds_alternative<std::monostate>(cell) || (number != nullptr && std::isnan(*number));
}

// A strict order over known cells of one column. Integers are compared as such: doubles cannot tell large ones apart.
bool less(const Cell& a, const Cell& b) {
  if (a.index() == b.index()) return a < b;
  const auto x = number_in(a);
  const auto y = number_in(b);
  return x && y ? *x < *y : a.index() < b.index();
}

void sort_rows(Table& table, std::size_t column, bool reversed) {
  const bool down = (table.columns[column].type != Type::text) != reversed;
  const auto unknown = [&](const Row& row) { return is_unknown(row[column]); };
  const auto known_end = std::ranges::stable_partition(table.rows, [&](const Row& row) { return !unknown(row); }).begin();
  std::stable_sort(table.rows.begin(), known_end,
                   [&](const Row& a, const Row& b) { return down ? less(b[column], a[column]) : less(a[column], b[column]); });
}

// The sum of a column over rows [first, end): int64 when every known cell is one, else a double; null when none is known
// or the sum would overflow.
Cell sum_of(const Table& table, std::size_t column, std::size_t first, std::size_t end) {
  std::int64_t whole = 0;
  double number = 0;
  bool exact = true;
  bool any = false;
  for (std::size_t i = first; i < end; ++i) {
    const Cell& cell = table.rows[i][column];
    const auto value = number_in(cell);
    if (!value) continue;
    any = true;
    number += *value;
    const auto* integer = std::get_if<std::int64_t>(&cell);
    exact = exact && integer != nullptr && !__builtin_add_overflow(whole, *integer, &whole);
  }
  if (!any) return {};
  return exact ? Cell(whole) : Cell(number);
}

bool about_equal(const Cell& a, const Cell& b) {
  const auto x = number_in(a);
  const auto y = number_in(b);
  return x && y && std::abs(*x - *y) <= 1e-9 * std::max(std::abs(*x), std::abs(*y));
}

// Sums over rows [first, end). Only a column whose rows add up to the total has a meaningful sum; a mean or a maximum stays
// unknown.
Row sums_of(const Table& table, std::size_t first, std::size_t end) {
  Row sums(table.columns.size());
  if (!table.total || table.total->size() != sums.size()) return sums;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    if (about_equal(sum_of(table, column, 0, table.rows.size()), (*table.total)[column]))
      sums[column] = sum_of(table, column, first, end);
  }
  return sums;
}

// Moves the rows in which no column of fold_unless is true behind the others; how many are before them.
std::size_t rows_worth_reading(Table& table) {
  std::vector<std::size_t> columns;
  for (const std::string& name : table.fold_unless) {
    if (const auto column = column_named(table, name)) columns.push_back(*column);
  }
  if (columns.empty()) return table.rows.size();
  const auto worth_reading = [&](const Row& row) {
    return std::ranges::any_of(columns, [&](std::size_t c) { return row[c] == Cell(true); });
  };
  const auto folded = std::ranges::stable_partition(table.rows, worth_reading);
  return static_cast<std::size_t>(folded.begin() - table.rows.begin());
}

void shorten(Table& table, const View& view) {
  const std::size_t worth = view.fold ? rows_worth_reading(table) : table.rows.size();
  const std::size_t kept = view.limit > 0 ? std::min(worth, static_cast<std::size_t>(view.limit)) : worth;
  if (kept < worth) table.others_row = sums_of(table, kept, worth);
  if (worth < table.rows.size()) table.folded_row = sums_of(table, worth, table.rows.size());
  table.others = static_cast<std::int64_t>(worth - kept);
  table.folded = static_cast<std::int64_t>(table.rows.size() - worth);
  table.rows.resize(kept);
}

// Every row gets one cell per column, so that the code above may index them.
void square(Table& table) {
  for (Row& row : table.rows) row.resize(table.columns.size());
}

tl::unexpected<Error> unknown_column(const Report& report, std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> short_names;
  for (const Table& table : report.tables) {
    for (std::string_view column : table.columns | std::views::transform(&Column::name)) {
      if (std::ranges::find(names, column) == names.end()) names.push_back(column);
      if (column.ends_with(kTimeSuffix)) short_names.push_back(column.substr(0, column.size() - kTimeSuffix.size()));
    }
  }
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = did_you_mean(name, short_names);
  if (hint.empty()) hint = fmt::format("columns: {}", fmt::join(names, ", "));
  return fail(ErrorCode::usage, fmt::format("there is no column '{}' to sort by", printable(name)), {}, std::move(hint));
}

bool sort_first_with(Report& report, std::string_view name, bool reversed) {
  for (Table& table : report.tables) {
    if (const auto column = column_named(table, name)) {
      sort_rows(table, *column, reversed);
      table.important.insert(table.important.begin() + (table.important.empty() ? 0 : 1), table.columns[*column].name);
      return true;
    }
  }
  return false;
}

}  // namespace

Result<Report> apply_view(Report report, const View& view) {
  for (Table& table : report.tables) {
    if (view.fold && !table.people.empty()) table.rows = std::move(table.people);
    table.people.clear();
    square(table);
  }
  if (!view.sort.empty()) {
    const bool reversed = view.sort.starts_with('-');
    const std::string name = view.sort.substr(reversed ? 1 : 0);
    const bool sorted =
        sort_first_with(report, name, reversed) || sort_first_with(report, name + std::string(kTimeSuffix), reversed);
    if (!sorted) return unknown_column(report, name);
  }
  for (Table& table : report.tables) shorten(table, view);
  return report;
}

}  // namespace ridge
