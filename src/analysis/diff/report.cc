// Diff to Report: tables of times and of whole traces; those of groups are group_tables.cc's. With two traces the columns are
// those of the contract; with more, each trace has its own against the first.
#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/diff/columns.h"
#include "analysis/diff/diff.h"
#include "analysis/diff/group_tables.h"
#include "analysis/diff/headline.h"
#include "analysis/shared/cells.h"
#include "facts/scope_diagnostics.h"

namespace ridge::diff {
namespace {

void add_delta_columns(Table& table, std::size_t traces) {
  for (std::size_t t = 1; t < traces; ++t) {
    table.columns.push_back({change_name(traces, t, "delta", "_ns"), Type::integer, Unit::ns});
    table.columns.push_back({change_name(traces, t, "delta", "_pct"), Type::number, Unit::percent});
  }
}

using Times = std::vector<std::optional<std::int64_t>>;  // by trace; nothing: not known

void add_deltas(Row& row, const Times& times) {
  for (std::size_t t = 1; t < times.size(); ++t) {
    const bool known = times[0] && times[t];
    row.push_back(known ? Cell(*times[t] - *times[0]) : Cell());
    row.push_back(known ? percent_of_change(*times[0], *times[t]) : Cell());
  }
}

// Times of the device, where there is one.
Times each_device(const Diff& diff, const std::function<std::int64_t(const SideTotals&)>& value) {
  Times times;
  for (const SideTotals& side : diff.sides) times.push_back(side.has_device ? std::optional(value(side)) : std::nullopt);
  return times;
}

Times each_listed(const Diff& diff, const std::function<std::int64_t(const ListedTime&)>& value) {
  Times times;
  for (std::size_t t = 0; t < diff.sides.size(); ++t)
    times.push_back(diff.sides[t].has_device ? std::optional(value(diff.listed[t])) : std::nullopt);
  return times;
}

void add_cells(Row& row, const Times& values) {
  for (const auto& value : values) row.push_back(value ? Cell(*value) : Cell());
}

bool all_zero(const Times& times) {
  return std::all_of(times.begin(), times.end(), [](const auto& time) { return time.value_or(0) == 0; });
}

// A table of times: one row per name, a column per trace, and the changes.
Table time_table(std::string name, std::string first_column, const Diff& diff) {
  Table table;
  table.name = std::move(name);
  table.columns = {{std::move(first_column), Type::text}};
  add_per_trace(table, diff.sides.size(), "time", "_ns", Type::integer, Unit::ns);
  add_delta_columns(table, diff.sides.size());
  return table;
}

Row time_row(std::string_view name, const Times& times) {
  Row row{std::string(name)};
  add_cells(row, times);
  add_deltas(row, times);
  return row;
}

void add_time_row(Table& table, std::string_view name, const Times& times) { table.add_row(time_row(name, times)); }

// By the absolute change of the second trace, and in their order for ties.
void add_by_change(Table& table, std::vector<Row> rows, std::size_t traces) {
  const auto change = [&](const Row& row) {
    const auto* delta = std::get_if<std::int64_t>(&row[1 + traces]);
    return delta != nullptr ? std::abs(*delta) : 0;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return change(a) > change(b); });
  for (const Row& row : rows) table.add_row(row);
}

void add_time_total(Table& table, const Times& times) {
  Row total(1);
  add_cells(total, times);
  add_deltas(total, times);
  table.total = std::move(total);
}

Table totals_table(const Diff& diff) {
  Table table = time_table("totals", "metric", diff);
  Times wall, median;
  for (const SideTotals& side : diff.sides) {
    wall.emplace_back(side.wall_ns);
    median.push_back(side.median_wall_ns);
  }
  if (diff.filtered) add_time_row(table, "gpu_time_matched", each_listed(diff, [](const ListedTime& l) { return l.gpu_ns; }));
  add_time_row(table, "gpu_time", each_device(diff, [](const SideTotals& s) { return s.gpu_ns; }));
  add_time_row(table, "wall_time", wall);
  add_time_row(table, "median_wall_time", median);
  add_time_row(table, "gpu_busy", each_device(diff, [](const SideTotals& s) { return s.busy_ns; }));
  add_time_row(table, "gpu_idle", each_device(diff, [](const SideTotals& s) { return s.idle_ns; }));
  return table;
}

Table waterfall_table(const Diff& diff) {
  Table table = time_table("waterfall", "category", diff);
  table.chart = Chart::bars;
  std::vector<Row> rows;
  for (std::size_t c = 0; c < kCategories; ++c) {
    const Times times = each_listed(diff, [&](const ListedTime& l) { return l.category_ns[c]; });
    if (all_zero(times)) continue;
    rows.push_back(time_row(name_of(static_cast<Category>(c)), times));
  }
  add_by_change(table, std::move(rows), diff.sides.size());
  add_time_total(table, each_listed(diff, [](const ListedTime& l) { return l.gpu_ns; }));
  return table;
}

Table idle_table(const Diff& diff) {
  Table table = time_table("idle", "cause", diff);
  std::vector<Row> rows;
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    const Times times = each_device(diff, [&](const SideTotals& s) { return s.idle_by_cause_ns[c]; });
    if (all_zero(times)) continue;
    rows.push_back(time_row(name_of(static_cast<IdleCause>(c)), times));
  }
  add_by_change(table, std::move(rows), diff.sides.size());
  add_time_total(table, each_device(diff, [](const SideTotals& s) { return s.idle_ns; }));
  return table;
}

std::string_view break_word(const BreakChange& change) {
  const bool before = change.occurrences.front() > 0;
  const bool after = std::any_of(change.occurrences.begin() + 1, change.occurrences.end(), [](double n) { return n > 0; });
  return before && after ? "both" : after ? "new" : "gone";
}

Table breaks_table(const Diff& diff) {
  Table table;
  table.name = "breaks";
  table.columns = {{"change", Type::text}, {"breaks", Type::integer, Unit::count}};
  add_per_trace(table, diff.sides.size(), "occurrences", "", Type::number, Unit::count);
  table.columns.push_back({"reason", Type::text});
  table.columns.push_back({"location", Type::text});
  for (const std::string_view wanted : {"new", "gone", "both"}) {
    for (const BreakChange& change : diff.breaks) {
      if (break_word(change) != wanted) continue;
      Row row{std::string(wanted), change.breaks};
      for (const double n : change.occurrences) row.emplace_back(n);
      row.push_back(cells::text(change.reason));
      row.push_back(cells::text(change.location));
      table.add_row(row);
    }
  }
  return table;
}

Cell number(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Table launches_table(const Diff& diff) {
  Table table;
  table.name = "launches";
  table.columns = {{"trace", Type::text},
                   {"launches", Type::number, Unit::count},
                   {"work", Type::number, Unit::count},
                   {"from_graphs", Type::number, Unit::count},
                   {"host_ns_per_launch", Type::number, Unit::ns}};
  for (std::size_t t = 0; t < diff.sides.size(); ++t) {
    const SideTotals& side = diff.sides[t];
    table.add_row({letter_of(t), side.launches, side.work, side.graph_launches, number(side.host_ns_per_launch)});
  }
  return table;
}

Table rates_table(const Diff& diff) {
  Table table;
  table.name = "rates";
  table.columns = {{"trace", Type::text},
                   {"flops", Type::number, Unit::flop},
                   {"bytes", Type::number, Unit::bytes},
                   {"flops_per_s", Type::number, Unit::flop_per_s},
                   {"bytes_per_s", Type::number, Unit::bytes_per_s},
                   {"known_pct_gpu_time", Type::number, Unit::percent}};
  for (std::size_t t = 0; t < diff.sides.size(); ++t) {
    const SideTotals& s = diff.sides[t];
    table.add_row({letter_of(t), number(s.flops), number(s.bytes), number(s.flops_per_s), number(s.bytes_per_s), s.costed_pct});
  }
  return table;
}

Table traces_table(const Diff& diff) {
  Table table;
  table.name = "traces";
  table.columns = {{"trace", Type::text},
                   {"iterations", Type::integer, Unit::count},
                   {"per", Type::text},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"wall_ns", Type::integer, Unit::ns},
                   {"median_wall_ns", Type::integer, Unit::ns},
                   {"folded_ns", Type::integer, Unit::ns},
                   {"device", Type::text},
                   {"file", Type::text}};
  for (std::size_t t = 0; t < diff.sides.size(); ++t) {
    const SideTotals& s = diff.sides[t];
    table.add_row({letter_of(t), s.time_range ? 0 : s.iterations, s.per, s.has_device ? Cell(s.gpu_ns) : Cell(), s.wall_ns,
                   s.median_wall_ns ? Cell(*s.median_wall_ns) : Cell(), s.has_device ? Cell(s.folded_ns) : Cell(),
                   cells::text(s.device), cells::text(s.name)});
  }
  return table;
}

}  // namespace

Report report_diff(const Diff& diff) {
  Report report;
  report.headline = headline(diff);
  report.tables = {groups_table(diff), totals_table(diff), waterfall_table(diff)};
  for (std::size_t t = 0; t < diff.sides.size(); ++t) report.tables.push_back(only_in_table(diff, t));
  report.tables.push_back(renamed_table(diff));
  report.tables.push_back(breaks_table(diff));
  report.tables.push_back(idle_table(diff));
  report.tables.push_back(launches_table(diff));
  report.tables.push_back(rates_table(diff));
  report.tables.push_back(traces_table(diff));
  // People ask by how much and why before they ask where.
  for (Table& table : report.tables)
    table.hints.leads = table.name == "totals" || table.name == "waterfall" || table.name == "idle";
  if (diff.no_device_events) report.diagnostics.push_back(no_device_events());
  const auto several = [](const SideTotals& side) { return side.devices > 1; };
  if (std::any_of(diff.sides.begin(), diff.sides.end(), several)) {
    report.diagnostics.push_back({"several_devices", 1,
                                  "a trace has several devices: gpu_time and table rows are sums over devices, gpu_busy and "
                                  "idle are means (--gpu N selects one)",
                                  "warning"});
  }
  if (diff.filtered) {
    report.diagnostics.push_back({"filter_not_used", 1,
                                  "--filter applies to groups, breaks, waterfall and gates; total GPU time, wall, busy and "
                                  "idle time, launches and rates cover all work",
                                  "warning"});
  }
  return report;
}

}  // namespace ridge::diff
