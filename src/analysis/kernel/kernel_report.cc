// The tables of `kernel NAME`.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "analysis/kernel/kernel.h"
#include "analysis/roofline/roofline.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/cost_columns.h"
#include "base/lasting.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr std::size_t kMostBins = 12;

struct Share {
  std::string_view column;
  double share;
};
constexpr std::array kPercentiles = {Share{"p10_ns", 0.10}, Share{"p50_ns", 0.50}, Share{"p90_ns", 0.90},
                                     Share{"p99_ns", 0.99}};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

double mean(const std::vector<std::int64_t>& values) {
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<std::int64_t>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const std::int64_t value : values) sum += std::pow(static_cast<double>(value) - middle, 2);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

Table head_table(const KernelDetail& kernel) {
  Table table;
  table.name = "kernel";
  table.hints.key_value = true;
  const auto add = [&](std::string_view name, Type type, Unit unit, Cell cell) {
    table.add_column({std::string(name), type, unit}, {std::move(cell)});
  };
  const std::vector<std::int64_t>& times = kernel.durations_ns;
  add("kernel", Type::text, Unit::none, std::string(kernel.kernel));
  add("label", Type::text, Unit::none, std::string(kernel.label));
  add("category", Type::text, Unit::none, std::string(name_of(kernel.category)));
  add("library", Type::text, Unit::none, cells::text(kernel.library));
  add("fused_ops", Type::text, Unit::none, cells::text(joined(kernel.fused_ops)));
  add("count", Type::integer, Unit::count, kernel.all.count);
  const auto known = [&](auto value) { return times.empty() ? Cell() : Cell(value()); };
  add("time_ns", Type::integer, Unit::ns, known([&] { return kernel.all.time_ns; }));
  add("pct_gpu_time", Type::number, Unit::percent,
      known([&] { return cells::percent(kernel.all.time_ns, kernel.kernel_time_ns); }));
  add("mean_ns", Type::number, Unit::ns, known([&] { return mean(times); }));
  add("stddev_ns", Type::number, Unit::ns, known([&] { return deviation(times); }));
  add("min_ns", Type::integer, Unit::ns, known([&] { return times.front(); }));
  for (const Share& p : kPercentiles) add(p.column, Type::integer, Unit::ns, known([&] { return percentile(times, p.share); }));
  add("max_ns", Type::integer, Unit::ns, known([&] { return times.back(); }));
  add("autotune_count", Type::integer, Unit::count, kernel.autotune_count);
  add("graph_count", Type::integer, Unit::count, kernel.graph_count);
  Row cost;
  push_cost_cells(kernel.all.cost, &cost);
  push_coverage_cells(kernel.all.cost, &cost);
  std::vector<Column> columns = cost_columns();
  columns.insert(columns.end(), coverage_columns().begin(), coverage_columns().end());
  for (std::size_t i = 0; i < columns.size(); ++i) add(columns[i].name, columns[i].type, columns[i].unit, cost[i]);
  Row expected;
  push_expected_cells(kernel.all.expected, kernel.all.time_ns, &expected);
  for (std::size_t i = 0; i < expected.size(); ++i)
    add(expected_columns()[i].name, expected_columns()[i].type, expected_columns()[i].unit, expected[i]);
  const RoofPoint point = roof_point(kernel.all.cost);
  add("intensity", Type::number, Unit::none, cells::number(point.intensity));
  add("roof_flops_per_s", Type::number, Unit::flop_per_s, cells::number(point.roof_flops_per_s));
  add("pct_of_roof", Type::number, Unit::percent, cells::number(point.pct_of_roof));
  return table;
}

// Bins of equal width over the durations; one where all are equal.
Table histogram_table(const KernelDetail& kernel) {
  Table table;
  table.name = "durations";
  table.chart = Chart::bars;
  table.columns = {{"from_ns", Type::integer, Unit::ns},
                   {"to_ns", Type::integer, Unit::ns},
                   {"count", Type::integer, Unit::count},
                   {"pct_launches", Type::number, Unit::percent}};
  const std::vector<std::int64_t>& times = kernel.durations_ns;
  if (times.empty()) return table;
  const std::int64_t least = times.front(), span = times.back() - least;
  const std::int64_t bins = std::clamp<std::int64_t>(span, 1, kMostBins);
  const std::int64_t width = span / bins + 1;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
  for (const std::int64_t time : times) ++counts[static_cast<std::size_t>((time - least) / width)];
  for (std::int64_t i = 0; i < bins; ++i) {
    const std::int64_t count = counts[static_cast<std::size_t>(i)];
    table.add_row({least + i * width, least + (i + 1) * width - 1, count,
                   cells::percent(count, static_cast<std::int64_t>(times.size()))});
  }
  return table;
}

const auto& kGroupColumns = lasting(std::vector<Column>{{"count", Type::integer, Unit::count},
                                                        {"time_ns", Type::integer, Unit::ns},
                                                        {"mean_ns", Type::number, Unit::ns},
                                                        {"pct_of_kernel", Type::number, Unit::percent}});

Row group_cells(const KernelDetail& kernel, const LaunchGroup& group) {
  if (group.timed == 0) return {group.count, Cell(), Cell(), Cell()};
  return {group.count, group.time_ns, cells::ratio(static_cast<double>(group.time_ns), static_cast<double>(group.timed)),
          cells::percent(group.time_ns, kernel.all.time_ns)};
}

// A table of groups: how many and how long, then what tells them apart.
template <class Rows, class Cells>
Table group_table(std::string name, const KernelDetail& kernel, const Rows& rows, std::vector<Column> own, Cells cells_of) {
  Table table;
  table.name = std::move(name);
  table.columns = kGroupColumns;
  table.columns.insert(table.columns.end(), own.begin(), own.end());
  for (const auto& group : rows) {
    Row row = group_cells(kernel, group);
    const Row more = cells_of(group);
    row.insert(row.end(), more.begin(), more.end());
    table.add_row(row);
  }
  return table;
}

Table configs_table(const KernelDetail& kernel) {
  return group_table("launch_configs", kernel, kernel.configs,
                     {{"grid", Type::text},
                      {"block", Type::text},
                      {"registers_per_thread", Type::integer},
                      {"shared_memory_bytes", Type::integer, Unit::bytes},
                      {"blocks_per_sm", Type::number},
                      {"warps_per_sm", Type::number},
                      {"occupancy_pct", Type::number, Unit::percent}},
                     [](const LaunchConfig& c) {
                       return Row{cells::text(c.grid),
                                  cells::text(c.block),
                                  cells::integer(c.registers_per_thread),
                                  cells::integer(c.shared_memory_bytes),
                                  cells::number(c.blocks_per_sm),
                                  cells::number(c.warps_per_sm),
                                  cells::number(c.occupancy_pct)};
                     });
}

Table shapes_table(const KernelDetail& kernel) {
  return group_table("shapes", kernel, kernel.shapes,
                     {{"flops", Type::number, Unit::flop},
                      {"bytes", Type::number, Unit::bytes},
                      {"pct_of_roof", Type::number, Unit::percent},
                      {"bound", Type::text},
                      {"expected_ns", Type::number, Unit::ns},
                      {"slowdown", Type::number},
                      {"op", Type::text},
                      {"input_dims", Type::text},
                      {"input_types", Type::text}},
                     [](const KernelShape& s) {
                       const CostSum cost = s.cost.told();
                       Row expected;
                       push_expected_cells(s.expected, s.time_ns, &expected);
                       return Row{cells::number(cost.flops.value()),
                                  cells::number(cost.bytes.value()),
                                  cells::number(cost.roof_ns.pct_of_time()),
                                  cells::text(name_of(cost.bound())),
                                  expected[0],
                                  expected[1],
                                  cells::text(s.op),
                                  cells::text(s.input_dims),
                                  cells::text(s.input_types)};
                     });
}

// Ops are shapes without their shapes.
Table ops_table(const KernelDetail& kernel) {
  struct OpGroup : LaunchGroup {
    std::string_view op;
  };
  std::vector<OpGroup> groups;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const KernelShape& s : kernel.shapes) {
    const auto [it, is_new] = index.try_emplace(s.op, groups.size());
    if (is_new) groups.push_back({{}, s.op});
    OpGroup& group = groups[it->second];
    group.count += s.count;
    group.timed += s.timed;
    saturating_add(&group.time_ns, s.time_ns);
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &OpGroup::time_ns);
  return group_table("ops", kernel, groups, {{"op", Type::text}}, [](const OpGroup& g) { return Row{std::string(g.op)}; });
}

Table stacks_table(const KernelDetail& kernel) {
  return group_table("stacks", kernel, kernel.stacks,
                     {{"location", Type::text}, {"module", Type::text}, {"annotation", Type::text}, {"stack", Type::text}},
                     [](const KernelStack& s) {
                       return Row{cells::text(s.location), cells::text(s.module), cells::text(s.annotation),
                                  cells::text(s.stack)};
                     });
}

Table streams_table(const KernelDetail& kernel) {
  Table table;
  table.name = "streams";
  table.columns = kGroupColumns;
  table.columns.push_back({"stream", Type::integer});
  for (const auto& [stream, group] : kernel.streams) {
    Row row = group_cells(kernel, group);
    row.emplace_back(stream);
    table.add_row(row);
  }
  return table;
}

Table sources_table(const KernelDetail& kernel) {
  return group_table("sources", kernel, kernel.sources,
                     {{"match", Type::text},
                      {"kernel_backend", Type::text},
                      {"kernel_kwargs", Type::text},
                      {"kernel_hash", Type::text},
                      {"kernel_file", Type::text}},
                     [](const KernelSourceUse& s) {
                       return Row{std::string(name_of(s.match)), cells::text(s.backend), cells::text(s.kwargs),
                                  cells::text(s.hash), cells::text(s.file)};
                     });
}

// The text of the source that most of the time ran, line by line.
Table source_table(const KernelDetail& kernel) {
  Table table;
  table.name = "source";
  table.columns = {{"line", Type::integer}, {"text", Type::text}};
  const auto found = std::ranges::find_if(kernel.sources, [](const KernelSourceUse& s) { return s.text.has_value(); });
  if (found == kernel.sources.end()) return table;
  const std::string_view text = *found->text;
  std::int64_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    table.add_row({++line, std::string(text.substr(begin, end - begin))});
    begin = end + 1;
  }
  return table;
}

}  // namespace

Report report_kernel(const KernelDetail& kernel) {
  Report report;
  for (Table& table :
       std::array{head_table(kernel), histogram_table(kernel), configs_table(kernel), ops_table(kernel), shapes_table(kernel),
                  stacks_table(kernel), streams_table(kernel), sources_table(kernel), source_table(kernel)}) {
    const bool optional = table.name == "sources" || table.name == "source";
    if (!table.empty() || !optional) report.tables.push_back(std::move(table));
  }
  report.diagnostics = kernel.diagnostics;
  return report;
}

}  // namespace ridge
