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
Cell sum_of(const Table& table, std::size_t column, std::size_t first) {
  std::int64_t whole = 0;
  double number = 0;
  bool exact = true;
  bool any = false;
  for (std::size_t i = first; i < table.rows.size(); ++i) {
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

// Only a column whose rows add up to the total has a meaningful sum; a mean or a maximum has none and stays unknown.
Row sums_after(const Table& table, std::size_t first) {
  Row sums(table.columns.size());
  if (!table.total || table.total->size() != sums.size()) return sums;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    if (about_equal(sum_of(table, column, 0), (*table.total)[column])) sums[column] = sum_of(table, column, first);
  }
  return sums;
}

void cut(Table& table, std::int64_t limit) {
  const auto kept = static_cast<std::size_t>(limit);
  if (limit <= 0 || table.rows.size() <= kept) return;
  table.others_row = sums_after(table, kept);
  table.others = static_cast<std::int64_t>(table.rows.size() - kept);
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
      return true;
    }
  }
  return false;
}

}  // namespace

Result<Report> apply_view(Report report, const View& view) {
  for (Table& table : report.tables) square(table);
  if (!view.sort.empty()) {
    const bool reversed = view.sort.starts_with('-');
    const std::string name = view.sort.substr(reversed ? 1 : 0);
    const bool sorted =
        sort_first_with(report, name, reversed) || sort_first_with(report, name + std::string(kTimeSuffix), reversed);
    if (!sorted) return unknown_column(report, name);
  }
  for (Table& table : report.tables) cut(table, view.limit);
  return report;
}

}  // namespace ridge
