// The table of `kernels`: its columns, its rows and their total.
#include "analysis/kernels/kernels.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/cost_columns.h"
#include "base/lasting.h"
#include "base/saturating.h"

namespace ridge {
namespace {

const auto& kTimeColumns = lasting(std::vector<Column>{{"count", Type::integer, Unit::count},
                                                       {"time_ns", Type::integer, Unit::ns},
                                                       {"mean_ns", Type::number, Unit::ns},
                                                       {"min_ns", Type::integer, Unit::ns},
                                                       {"max_ns", Type::integer, Unit::ns},
                                                       {"pct_gpu_time", Type::number, Unit::percent}});
const auto& kSourceColumns = lasting(std::vector<Column>{
    {"op", Type::text}, {"kernel_file", Type::text}, {"kernel_hash", Type::text}, {"kernel_kwargs", Type::text}});
const auto& kAutotuneColumns =
    lasting(std::vector<Column>{{"autotune_count", Type::integer, Unit::count}, {"autotune_ns", Type::integer, Unit::ns}});
const auto& kRecoveredColumns =
    lasting(std::vector<Column>{{"recovered_ns", Type::integer, Unit::ns}, {"op_from", Type::text}});

template <class... Cells>
void push(Row* row, Cells&&... more) {
  (row->emplace_back(std::forward<Cells>(more)), ...);
}

// Columns for people with nothing to say are in the way: these stand where a replay's ops were recovered.
bool any_recovered(const Kernels& kernels) { return kernels.recovered_ns > 0; }

// What a row's expected time rests on.
std::string_view basis_of(const KernelRow& k) {
  if (k.expected.time_ns <= 0) return {};
  if (k.measured_ns <= 0) return "expected";
  return k.measured_ns >= k.expected.time_ns ? "measured alone" : "measured alone and expected";
}

Row row_of(const Kernels& kernels, const KernelRow& k) {
  Row row;
  if (kernels.by && *kernels.by != KernelsBy::launch) {
    push(&row, k.key, k.kernels, std::string(name_of(k.category)), k.device);
  } else {
    push(&row, std::string(k.kernel), std::string(k.label), std::string(name_of(k.category)), k.device);
  }
  if (k.timed > 0) {
    push(&row, k.count, k.time_ns, cells::ratio(static_cast<double>(k.time_ns), static_cast<double>(k.timed)), k.min_ns,
         k.max_ns, cells::percent(k.time_ns, kernels.time_ns));
  } else {
    push(&row, k.count, Cell(), Cell(), Cell(), Cell(), Cell());
  }
  push_cost_cells(k.cost, &row);
  if (!kernels.by || *kernels.by == KernelsBy::launch) {
    push(&row, cells::text(k.op), cells::text(k.kernel_file), cells::text(k.kernel_hash), cells::text(k.kernel_kwargs));
  }
  push_expected_cells(k.expected, k.time_ns, &row);
  if (kernels.with_table) row.push_back(cells::text(basis_of(k)));
  push(&row, k.autotune_count, k.autotune_ns);
  push_coverage_cells(k.cost, &row);
  if (any_recovered(kernels)) push(&row, k.recovered_ns, cells::text(name_of(k.op_from)));
  if (kernels.by == KernelsBy::launch) push(&row, k.start_ns, k.stream);
  return row;
}

// The row of everything: what belongs to one kernel alone stays empty.
Row total_row(const Kernels& kernels, const Table& table) {
  Row all(table.columns.size());
  Row cost, coverage, expected;
  push_expected_cells(kernels.expected, kernels.time_ns, &expected);
  push_cost_cells(kernels.cost, &cost);
  push_coverage_cells(kernels.cost, &coverage);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& name = table.columns[i].name;
    if (name == "count") all[i] = kernels.count;
    if (name == "time_ns" && (kernels.timed > 0 || kernels.count == 0)) all[i] = kernels.time_ns;
    if (name == "mean_ns") all[i] = cells::ratio(static_cast<double>(kernels.time_ns), static_cast<double>(kernels.timed));
    if (name == "pct_gpu_time") all[i] = cells::percent(kernels.time_ns, kernels.time_ns);
    if (name == "autotune_count") all[i] = kernels.autotune_count;
    if (name == "autotune_ns") all[i] = kernels.autotune_ns;
    if (name == "recovered_ns") all[i] = kernels.recovered_ns;
    for (std::size_t c = 0; c < cost.size(); ++c) {
      if (name == cost_columns()[c].name && cost_columns()[c].type == Type::number) all[i] = cost[c];
    }
    for (std::size_t c = 0; c < expected.size(); ++c) {
      if (name == expected_columns()[c].name) all[i] = expected[c];
    }
    for (std::size_t c = 0; c < coverage.size(); ++c) {
      if (name == coverage_columns()[c].name) all[i] = coverage[c];
    }
  }
  return all;
}

Table table_for(const Kernels& kernels) {
  const bool regrouped = kernels.by && *kernels.by != KernelsBy::launch;
  Table table;
  table.name = "kernels";
  table.hints.important = {regrouped ? std::string(kernels_by_names()[static_cast<std::size_t>(*kernels.by)]) : "label",
                           "time_ns",
                           "pct_gpu_time",
                           "count",
                           "bound",
                           "pct_peak_flops",
                           "pct_peak_bandwidth",
                           "slowdown",
                           "headroom_ns",
                           "mean_ns",
                           "op",
                           "category",
                           "dtype",
                           "flops_per_s",
                           "bytes_per_s",
                           "device",
                           "min_ns",
                           "max_ns"};
  const auto add_columns = [&](const std::vector<Column>& more) {
    table.columns.insert(table.columns.end(), more.begin(), more.end());
  };
  if (regrouped) {
    add_columns({{std::string(kernels_by_names()[static_cast<std::size_t>(*kernels.by)]), Type::text},
                 {"kernels", Type::integer, Unit::count}});
  } else {
    add_columns({{"kernel", Type::text}, {"label", Type::text}});
  }
  add_columns({{"category", Type::text}, {"device", Type::integer}});
  add_columns(kTimeColumns);
  add_columns(cost_columns());
  if (!regrouped) add_columns(kSourceColumns);
  add_columns(expected_columns());
  if (kernels.with_table) add_columns({{"basis", Type::text}});
  add_columns(kAutotuneColumns);
  add_columns(coverage_columns());
  if (any_recovered(kernels)) add_columns(kRecoveredColumns);
  if (kernels.by == KernelsBy::launch)
    add_columns({{"start_ns", Type::integer, Unit::ns, Role::time_start}, {"stream", Type::integer}});
  table.total = total_row(kernels, table);
  return table;
}

Report report_of(Table table, const Kernels& kernels) {
  Report report;
  report.tables.push_back(std::move(table));
  report.diagnostics = kernels.diagnostics;
  return report;
}

}  // namespace

Report report_kernels(const Kernels& kernels) {
  Table table = table_for(kernels);
  for (const KernelRow& k : kernels.rows) table.add_row(row_of(kernels, k));
  return report_of(std::move(table), kernels);
}

Report report_launches(const KernelLaunches& launches) {
  Table table = table_for(launches.all());
  table.reserve(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) table.add_row(row_of(launches.all(), launches[i]));
  return report_of(std::move(table), launches.all());
}

}  // namespace ridge
