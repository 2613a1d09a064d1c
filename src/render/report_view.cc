// What a user asks of the rows (sort, limit), as the view of a report that every format renders.
#include "render/report_view.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "base/nearest.h"
#include "render/join_rows.h"
#include "render/row_order.h"
#include "render/row_sums.h"

namespace ridge::render {
namespace {

constexpr std::string_view kTimeSuffix = "_ns";

// Moves the rows in which no column of fold_unless is true behind the others; how many are before them.
std::size_t rows_worth_reading(TableView& view) {
  const std::vector<std::size_t> columns = columns_named(*view.table, view.table->hints.fold_unless);
  if (columns.empty()) return view.rows.size();
  const auto worth_reading = [&](std::uint32_t row) { return any_true(view, row, columns); };
  const auto folded = std::ranges::stable_partition(view.rows, worth_reading);
  return static_cast<std::size_t>(folded.begin() - view.rows.begin());
}

void shorten(TableView& view, const View& asked, bool for_people) {
  const std::size_t worth = asked.fold ? rows_worth_reading(view) : view.rows.size();
  const std::size_t kept = asked.limit > 0 ? std::min(worth, static_cast<std::size_t>(asked.limit)) : worth;
  if (for_people && kept < worth) view.others_row = sums_of(view, kept, worth);
  if (for_people && worth < view.rows.size()) view.folded_row = sums_of(view, worth, view.rows.size());
  view.others = static_cast<std::int64_t>(worth - kept);
  view.folded = static_cast<std::int64_t>(view.rows.size() - worth);
  view.rows.resize(kept);
}

TableView whole(const Table& table) {
  TableView view{.table = &table, .columns = {}, .rows = {}, .joined = {}, .others_row = {}, .folded_row = {}, .important = {}};
  view.columns.resize(table.columns.size());
  std::iota(view.columns.begin(), view.columns.end(), std::size_t{0});
  view.rows.resize(table.size());
  std::iota(view.rows.begin(), view.rows.end(), std::uint32_t{0});
  view.important = table.hints.important;
  return view;
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

// `first`: how many rows must be in their place.
bool sort_first_with(ReportView& report, std::string_view name, bool reversed, std::size_t first) {
  for (TableView& view : report.tables) {
    const Column* column = view.table->find(name);
    if (column == nullptr) continue;
    sort_rows(view, static_cast<std::size_t>(column - view.table->columns.data()), reversed, first);
    view.important.insert(view.important.begin() + (view.important.empty() ? 0 : 1), column->name);
    return true;
  }
  return false;
}

}  // namespace

Result<ReportView> view_report(const Report& report, const View& asked, bool for_people) {
  ReportView out{.report = &report, .tables = {}};
  for (const Table& table : report.tables) {
    out.tables.push_back(whole(table));
    if (asked.fold) join_equal_rows(out.tables.back());
  }
  if (!asked.sort.empty()) {
    const bool reversed = asked.sort.starts_with('-');
    const std::string name = asked.sort.substr(reversed ? 1 : 0);
    // Sums are over the rows in their order: of numbers that are not whole another order may give another sum.
    const bool all = asked.limit <= 0 || for_people || asked.fold;
    const std::size_t first = all ? SIZE_MAX : static_cast<std::size_t>(asked.limit);
    const bool sorted =
        sort_first_with(out, name, reversed, first) || sort_first_with(out, name + std::string(kTimeSuffix), reversed, first);
    if (!sorted) return unknown_column(report, name);
  }
  for (TableView& view : out.tables) shorten(view, asked, for_people);
  return out;
}

}  // namespace ridge::render
