// The tables of `graphs`: what compute_graphs found, as a Report.
#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/graphs/compiled_share.h"
#include "analysis/graphs/graphs.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "model/frame_name.h"

namespace ridge {
namespace {

std::string_view name_of(LookupOutcome outcome) {
  switch (outcome) {
    case LookupOutcome::hit: return "hit";
    case LookupOutcome::compiled: return "compiled";
    case LookupOutcome::not_compiled: return "not_compiled";
    default: return "skipped";
  }
}

Cell frame_cell(const CompileId& id) { return id.frame >= 0 ? Cell(std::int64_t{id.frame}) : Cell(); }
Cell compile_cell(const CompileId& id) { return id.compile >= 0 ? Cell(std::int64_t{id.compile}) : Cell(); }

// "gemm 61%, triton_pointwise 30%": the parts of at least one percent, largest first.
std::string categories_text(const GraphCost& graph) {
  std::vector<std::pair<std::int64_t, Category>> parts;
  for (std::size_t c = 0; c < kCategories; ++c) {
    if (graph.category_ns[c] >= graph.gpu_ns / 100 && graph.category_ns[c] > 0)
      parts.emplace_back(-graph.category_ns[c], static_cast<Category>(c));
  }
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const auto& [ns, category] : parts) {
    const long share = std::lround(100.0 * static_cast<double>(-ns) / static_cast<double>(graph.gpu_ns));
    text += (text.empty() ? "" : ", ") + std::string(name_of(category)) + " " + std::to_string(share) + "%";
  }
  return text;
}

std::string fallbacks_text(const GraphCost& graph) {
  std::string text;
  for (const FallbackOp& op : graph.fallbacks) {
    if (!op.custom) text += (text.empty() ? "" : ", ") + std::string(op.op);
  }
  return text;
}

std::string phase_of(const GraphCost& graph) { return graph.backward ? "backward" : "forward"; }

Table graphs_table(const Graphs& graphs) {
  Table table;
  table.name = "graphs";
  table.hints.important = {"graph", "phase",    "gpu_ns", "pct_gpu_time", "busy_pct",
                           "calls", "launches", "cpu_ns", "fallback_ops"};
  table.columns = {{"graph", Type::text},
                   {"phase", Type::text},
                   {"frame", Type::integer},
                   {"calls", Type::integer, Unit::count},
                   {"cpu_ns", Type::integer, Unit::ns},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"busy_pct", Type::number, Unit::percent},
                   {"launches", Type::integer, Unit::count},
                   {"fallback_ops", Type::text},
                   {"categories", Type::text},
                   {"compile", Type::integer},
                   {"kernels", Type::integer, Unit::count},
                   {"pct_gpu_time", Type::number, Unit::percent}};
  const bool device = graphs.has_device_work;
  const std::int64_t whole = graphs.gpu_ns();
  GraphCost sum;
  for (const GraphCost& g : graphs.graphs) {
    table.add_row({std::string(g.graph), phase_of(g), frame_cell(g.id), g.calls, g.cpu_ns, device ? Cell(g.gpu_ns) : Cell(),
                   cells::percent(g.busy_ns, g.span_ns), g.launches, cells::text(fallbacks_text(g)),
                   cells::text(categories_text(g)), compile_cell(g.id), device ? Cell(g.kernels) : Cell(),
                   cells::percent(g.gpu_ns, whole)});
    sum.calls += g.calls;
    saturating_add(&sum.cpu_ns, g.cpu_ns);
    saturating_add(&sum.gpu_ns, g.gpu_ns);
    sum.launches += g.launches;
    sum.kernels += g.kernels;
  }
  if (!graphs.graphs.empty()) {
    table.total = Row{Cell(),
                      Cell(),
                      Cell(),
                      sum.calls,
                      sum.cpu_ns,
                      device ? Cell(sum.gpu_ns) : Cell(),
                      Cell(),
                      sum.launches,
                      Cell(),
                      Cell(),
                      Cell(),
                      device ? Cell(sum.kernels) : Cell(),
                      cells::percent(sum.gpu_ns, whole)};
  }
  return table;
}

Table coverage_table(const Graphs& graphs) {
  Table table;
  table.name = "coverage";
  table.columns = {{"part", Type::text},
                   {"compiled", Type::boolean},
                   {"events", Type::integer, Unit::count},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"pct_gpu_time", Type::number, Unit::percent}};
  if (!graphs.has_device_work) return table;
  const std::int64_t whole = graphs.gpu_ns();
  std::int64_t events = 0;
  for (std::size_t p = 0; p < kCoverageParts; ++p) {
    const auto part = static_cast<CoveragePart>(p);
    const Coverage& c = graphs.coverage[p];
    Cell compiled;
    if (part == CoveragePart::graph || part == CoveragePart::inductor_kernel) compiled = true;
    if (part == CoveragePart::compiled_frame || (part == CoveragePart::eager && graphs.calls_recorded())) compiled = false;
    table.add_row({std::string(name_of(part)), compiled, c.events, c.gpu_ns, cells::percent(c.gpu_ns, whole)});
    events += c.events;
  }
  table.total = Row{Cell(), Cell(), events, whole, cells::percent(whole, whole)};
  return table;
}

Table state_table(const Graphs& graphs) {
  std::int64_t lookups = 0, not_compiled = 0;
  for (const LookupCount& count : graphs.lookups) {
    lookups += count.lookups;
    if (count.outcome == LookupOutcome::not_compiled) not_compiled += count.lookups;
  }
  Table table;
  table.name = "torch_compile";
  table.hints.key_value = true;
  table.columns = {{"applied", Type::boolean},
                   {"graphs", Type::integer, Unit::count},
                   {"region_calls", Type::integer, Unit::count},
                   {"lookups", Type::integer, Unit::count},
                   {"lookups_not_compiled", Type::integer, Unit::count},
                   {"pct_gpu_time_compiled", Type::number, Unit::percent}};
  table.add_row({graphs.compiled(), static_cast<std::int64_t>(graphs.graphs.size()), graphs.region_calls, lookups, not_compiled,
                 cells::number(compiled_pct(graphs))});
  return table;
}

Table lookups_table(const Graphs& graphs) {
  Table table;
  table.name = "lookups";
  table.columns = {{"outcome", Type::text},
                   {"lookups", Type::integer, Unit::count},
                   {"cpu_ns", Type::integer, Unit::ns},
                   {"eager_frame_ns", Type::integer, Unit::ns},
                   {"location", Type::text, Unit::none, Role::frame}};
  for (const LookupCount& count : graphs.lookups) {
    table.add_row({std::string(name_of(count.outcome)), count.lookups, count.cpu_ns,
                   count.frame_ns > 0 ? Cell(count.frame_ns) : Cell(), cells::text(count.location)});
  }
  return table;
}

Table fallbacks_table(const Graphs& graphs) {
  Table table;
  table.name = "fallbacks";
  table.columns = {{"op", Type::text},
                   {"phase", Type::text},
                   {"frame", Type::integer},
                   {"calls", Type::integer, Unit::count},
                   {"cpu_ns", Type::integer, Unit::ns},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"custom", Type::boolean},
                   {"graph", Type::text}};
  for (const GraphCost& g : graphs.graphs) {
    for (const FallbackOp& op : g.fallbacks) {
      table.add_row({std::string(op.op), phase_of(g), frame_cell(g.id), op.calls, op.cpu_ns,
                     graphs.has_device_work ? Cell(op.gpu_ns) : Cell(), op.custom, std::string(g.graph)});
    }
  }
  return table;
}

Table categories_table(const Graphs& graphs) {
  Table table;
  table.name = "graph_categories";
  table.columns = {{"graph", Type::text},
                   {"phase", Type::text},
                   {"frame", Type::integer},
                   {"category", Type::text},
                   {"kernels", Type::integer, Unit::count},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"pct_of_graph", Type::number, Unit::percent}};
  for (const GraphCost& g : graphs.graphs) {
    for (std::size_t c = 0; c < kCategories; ++c) {
      if (g.category_kernels[c] == 0) continue;
      table.add_row({std::string(g.graph), phase_of(g), frame_cell(g.id), std::string(name_of(static_cast<Category>(c))),
                     g.category_kernels[c], g.category_ns[c], cells::percent(g.category_ns[c], g.gpu_ns)});
    }
  }
  return table;
}

std::int64_t mean(std::int64_t sum, std::int64_t count) {
  return count == 0 ? 0 : sum / count + (sum % count + count / 2) / count;
}

Cell graph_name(const GraphReplays& replays, std::uint32_t graph) { return replays.graphs[graph].id.value_or(graph); }

Table replays_table(const Graphs& graphs) {
  const GraphReplays& replays = graphs.model->graph_replays();
  Table table;
  table.name = "replays";
  table.columns = {{"graph", Type::integer},
                   {"replays", Type::integer, Unit::count},
                   {"nodes", Type::integer, Unit::count},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"gpu_mean_ns", Type::integer, Unit::ns},
                   {"gpu_min_ns", Type::integer, Unit::ns},
                   {"gpu_max_ns", Type::integer, Unit::ns},
                   {"launch_mean_ns", Type::integer, Unit::ns},
                   {"ops_from", Type::text},
                   {"ops_known", Type::integer, Unit::count},
                   {"capture", Type::text}};
  for (const ReplayCost& cost : graphs.replays) {
    const ReplayedGraph& graph = replays.graphs[cost.graph];
    const auto known = std::count_if(graph.ops.begin(), graph.ops.end(), [](NodeId op) { return op != kNoNode; });
    table.add_row({graph_name(replays, cost.graph), cost.replays, static_cast<std::int64_t>(cost.nodes.size()), cost.gpu_ns,
                   mean(cost.gpu_ns, cost.replays), cost.min_gpu_ns, cost.max_gpu_ns, mean(cost.launch_ns, cost.replays),
                   cells::text(name_of(graph.source)), static_cast<std::int64_t>(known), cells::text(graph.from)});
  }
  return table;
}

Table replay_nodes_table(const Graphs& graphs) {
  const GraphReplays& replays = graphs.model->graph_replays();
  const Trace& trace = graphs.model->trace();
  const CallTree& tree = graphs.model->tree();
  Table table;
  table.name = "replay_nodes";
  table.columns = {{"graph", Type::integer},
                   {"node", Type::integer},
                   {"replays", Type::integer, Unit::count},
                   {"mean_ns", Type::integer, Unit::ns},
                   {"min_ns", Type::integer, Unit::ns},
                   {"max_ns", Type::integer, Unit::ns},
                   {"op", Type::text},
                   {"op_from", Type::text},
                   {"kernel", Type::text}};
  for (const ReplayCost& cost : graphs.replays) {
    const ReplayedGraph& graph = replays.graphs[cost.graph];
    for (std::size_t i = 0; i < cost.nodes.size(); ++i) {
      const ReplayCost::Node& node = cost.nodes[i];
      const NodeId op = graph.ops.empty() ? kNoNode : graph.ops[i];
      table.add_row({graph_name(replays, cost.graph), static_cast<std::int64_t>(i), cost.replays,
                     mean(node.gpu_ns, cost.replays), node.min_gpu_ns, node.max_gpu_ns,
                     op == kNoNode ? Cell() : Cell(std::string(trace.text(trace.events.name(tree.event[op.value])))),
                     op == kNoNode ? Cell() : cells::text(name_of(graph.source)), std::string(trace.text(graph.nodes[i]))});
    }
  }
  return table;
}

}  // namespace

Report report_graphs(const Graphs& graphs) {
  Report report;
  report.tables = {graphs_table(graphs), coverage_table(graphs), state_table(graphs)};
  if (!graphs.lookups.empty()) report.tables.push_back(lookups_table(graphs));
  if (!graphs.graphs.empty()) {
    report.tables.push_back(fallbacks_table(graphs));
    report.tables.push_back(categories_table(graphs));
  }
  if (!graphs.replays.empty()) {
    report.tables.push_back(replays_table(graphs));
    report.tables.push_back(replay_nodes_table(graphs));
  }
  if (!graphs.calls_recorded()) {
    report.diagnostics.push_back({"no_compiled_calls",
                                  graphs.coverage[static_cast<std::size_t>(CoveragePart::inductor_kernel)].events,
                                  "Inductor kernels without a recorded compiled region or graph call: library kernels of "
                                  "compiled code cannot be distinguished from eager ones"});
  }
  return report;
}

}  // namespace ridge
