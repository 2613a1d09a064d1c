// The tables of `ops`: its columns, its rows and their total.
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/ops/ops.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"

namespace ridge {
namespace {

std::string by_name(const Ops& ops) { return std::string(ops_by_names()[static_cast<std::size_t>(*ops.by)]); }

// What each phase, or stage, cost in all: the rows of --by phase, added up.
Table phases_table(const Ops& ops) {
  struct Sum {
    std::int64_t count = 0, timed = 0, cpu_self_ns = 0, device_self_ns = 0, kernels = 0;
  };
  std::map<std::string, Sum> sums;
  for (const OpRow& row : ops.rows) {
    Sum& sum = sums[row.detail];
    sum.count += row.count;
    sum.timed += row.timed;
    sum.kernels += row.kernels;
    saturating_add(&sum.cpu_self_ns, row.cpu_self_ns);
    saturating_add(&sum.device_self_ns, row.device_self_ns);
  }
  Table table;
  table.name = by_name(ops) + "s";
  table.columns = {{by_name(ops), Type::text},
                   {"count", Type::integer, Unit::count},
                   {"cpu_self_ns", Type::integer, Unit::ns},
                   {"device_self_ns", Type::integer, Unit::ns},
                   {"kernels", Type::integer, Unit::count}};
  const auto on_device = [&](std::int64_t value) { return ops.has_device_work ? Cell(value) : Cell(); };
  std::vector<Row> rows;
  for (const auto& [phase, sum] : sums)
    rows.push_back({cells::text(phase), sum.count, sum.timed > 0 || sum.count == 0 ? Cell(sum.cpu_self_ns) : Cell(),
                    on_device(sum.device_self_ns), on_device(sum.kernels)});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return std::tie(a[3], a[2]) > std::tie(b[3], b[2]); });
  for (const Row& row : rows) table.add_row(row);
  return table;
}

}  // namespace

Report report_ops(const Ops& ops) {
  Table table;
  table.name = "ops";
  table.hints.important = {"op", "device_self_ns", "cpu_self_ns", "count"};
  if (ops.by) table.hints.important.insert(table.hints.important.begin() + 1, by_name(ops));
  table.columns = {{"op", Type::text},
                   {"count", Type::integer, Unit::count},
                   {"cpu_total_ns", Type::integer, Unit::ns},
                   {"cpu_self_ns", Type::integer, Unit::ns},
                   {"device_total_ns", Type::integer, Unit::ns},
                   {"device_self_ns", Type::integer, Unit::ns},
                   {"flops", Type::number, Unit::flop},
                   {"kernels", Type::integer, Unit::count}};
  const bool any_recovered = std::any_of(ops.rows.begin(), ops.rows.end(), [](const OpRow& r) { return r.recovered_ns > 0; });
  if (any_recovered)
    table.columns.insert(table.columns.end(), {{"recovered_ns", Type::integer, Unit::ns}, {"op_from", Type::text}});
  if (ops.by) table.columns.push_back({by_name(ops), Type::text});
  std::int64_t count = 0, timed = 0, cpu_self = 0, device_self = 0, kernels = 0, recovered = 0;
  for (const OpRow& row : ops.rows) {
    Row out(table.columns.size());
    out[0] = std::string(row.op);
    if (row.is_op) {
      out[1] = row.count;
      if (row.times_known()) {
        out[2] = row.cpu_total_ns;
        out[3] = row.cpu_self_ns;
      }
    }
    if (ops.has_device_work) {
      out[4] = row.device_total_ns;
      out[5] = row.device_self_ns;
      out[7] = row.kernels;
    }
    out[6] = cells::number(row.flops.value());
    if (any_recovered) {
      out[8] = row.recovered_ns;
      out[9] = cells::text(name_of(row.op_from));
    }
    if (ops.by && !row.detail.empty()) out.back() = row.detail;
    table.add_row(out);
    saturating_add(&recovered, row.recovered_ns);
    count += row.count;
    timed += row.timed;
    saturating_add(&cpu_self, row.cpu_self_ns);
    saturating_add(&device_self, row.device_self_ns);
    kernels += row.kernels;
  }
  Row& total = table.total.emplace(table.columns.size());  // totals of nested ops overlap: no sum
  total[1] = count;
  if (timed > 0 || count == 0) total[3] = cpu_self;
  total[6] = cells::number(ops.flops.value());
  if (ops.has_device_work) {
    total[5] = device_self;
    total[7] = kernels;
  }
  if (any_recovered) total[8] = recovered;
  Report report;
  report.tables.push_back(std::move(table));
  if (ops.by == OpsBy::phase || ops.by == OpsBy::stage) report.tables.push_back(phases_table(ops));
  if (ops.no_shapes)
    report.diagnostics.push_back({"no_shapes", 1, "the trace has no input shapes: record with record_shapes=True"});
  if (ops.no_stacks)
    report.diagnostics.push_back({"no_stacks", 1, "the trace has no Python stacks: record with with_stack=True"});
  return report;
}

}  // namespace ridge
