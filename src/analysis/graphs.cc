#include "analysis/graphs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/cells.h"
#include "model/frame_name.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

// Ops that Inductor calls by design: matrix products, convolutions, attention, and the buffers' own bookkeeping. Others under a graph are ops for
// which it has no code of its own.
bool is_by_design(std::string_view op) {
  if (const std::size_t colons = op.find("::"); colons != op.npos) {
    if (op.substr(0, colons) != "aten") return false;
    op.remove_prefix(colons + 2);
  }
  constexpr std::string_view kWhole[] = {"mm",
                                         "addmm",
                                         "bmm",
                                         "baddbmm",
                                         "_int_mm",
                                         "_scaled_mm",
                                         "_grouped_mm",
                                         "_scaled_grouped_mm",
                                         "addmv",
                                         "mv",
                                         "dot",
                                         "matmul",
                                         "linear",
                                         "_addmm_activation",
                                         "convolution",
                                         "convolution_backward",
                                         "_convolution",
                                         "empty",
                                         "empty_strided",
                                         "empty_like",
                                         "as_strided",
                                         "view",
                                         "slice",
                                         "select",
                                         "detach",
                                         "alias",
                                         "resize_",
                                         "set_",
                                         "reshape",
                                         "t",
                                         "transpose",
                                         "permute",
                                         "expand",
                                         "squeeze",
                                         "unsqueeze",
                                         "copy_",
                                         "_foreach_copy_",
                                         "record_stream",
                                         "lift_fresh",
                                         "contiguous",
                                         "clone"};
  return std::find(std::begin(kWhole), std::end(kWhole), op) != std::end(kWhole) || op.starts_with("_scaled_dot_product") ||
         op.starts_with("_flash_attention") || op.starts_with("_efficient_attention") || op.starts_with("_cudnn_attention");
}

// Wrapper ops that only mark a launch or the compiler's own work.
bool is_mark(std::string_view op) { return op.starts_with("triton_") || is_compile_overhead(op) || op.find("::") == op.npos; }

// Sums of the busy time of one device up to any moment.
class BusyClock {
 public:
  explicit BusyClock(const IntervalSet& busy) : busy_(busy) {
    std::int64_t sum = 0;
    for (const Interval& interval : busy_.intervals()) {
      before_.push_back(sum);
      sum += interval.length();
    }
  }
  std::int64_t between(std::int64_t from_ns, std::int64_t to_ns) const { return until(to_ns) - until(from_ns); }

 private:
  std::int64_t until(std::int64_t time_ns) const {
    const auto list = busy_.intervals();
    const auto it =
        std::upper_bound(list.begin(), list.end(), time_ns, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
    if (it == list.begin()) return 0;
    const auto i = static_cast<std::size_t>(it - list.begin() - 1);
    return before_[i] + std::min(time_ns - list[i].start_ns, list[i].length());
  }
  IntervalSet busy_;
  std::vector<std::int64_t> before_;
};

class Computer {
 public:
  explicit Computer(const Scope& scope)
      : scope_(scope),
        model_(scope.model()),
        trace_(scope.trace()),
        tree_(model_.tree()),
        regions_(model_.compiled_regions()) {}

  Graphs compute() {
    out_.model = &model_;
    find_units();
    count_calls();
    count_launches();
    count_device_work();
    count_lookups();
    count_replays();
    std::erase_if(out_.graphs,
                  [&](const GraphCost& g) { return (g.calls == 0 && g.kernels == 0) || !scope_.matches(g.graph); });
    for (GraphCost& graph : out_.graphs) {
      std::sort(graph.fallbacks.begin(), graph.fallbacks.end(), [](const FallbackOp& a, const FallbackOp& b) {
        return std::tuple(-a.gpu_ns, -a.cpu_ns, a.op) < std::tuple(-b.gpu_ns, -b.cpu_ns, b.op);
      });
    }
    std::sort(out_.graphs.begin(), out_.graphs.end(), [](const GraphCost& a, const GraphCost& b) {
      return std::tuple(-a.gpu_ns, -a.cpu_ns, a.id, a.backward, a.graph) <
             std::tuple(-b.gpu_ns, -b.cpu_ns, b.id, b.backward, b.graph);
    });
    return std::move(out_);
  }

 private:
  // The calls that stand for compiled graphs: graph calls; in traces without, the autograd functions and the regions that hold none.
  void find_units() {
    const auto& calls = regions_.calls;
    const bool graph_calls =
        std::any_of(calls.begin(), calls.end(), [](const CompiledCall& c) { return c.sort == CompiledSort::graph; });
    std::vector<bool> holds_function(calls.size());
    for (const CompiledCall& call : calls) {
      if (call.sort == CompiledSort::function && call.parent != kNoCall) holds_function[call.parent] = true;
    }
    unit_.assign(calls.size(), kNoCall);
    std::map<std::tuple<std::string_view, bool, CompileId>, std::uint32_t> rows;
    graph_of_.assign(calls.size(), 0);
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      const CompiledCall& call = calls[i];
      const bool is_unit =
          graph_calls ? call.sort == CompiledSort::graph : call.sort != CompiledSort::region || !holds_function[i];
      unit_[i] = is_unit ? i : call.parent != kNoCall && call.sort != CompiledSort::region ? unit_[call.parent] : kNoCall;
      if (!is_unit) continue;
      const std::string_view name = call.sort == CompiledSort::graph ? call.key : name_of_node(call.node);
      const auto [it, added] = rows.try_emplace({name, call.backward, call.id}, static_cast<std::uint32_t>(out_.graphs.size()));
      if (added) {
        GraphCost graph;
        graph.graph = name;
        graph.backward = call.backward;
        graph.id = call.id;
        out_.graphs.push_back(std::move(graph));
      }
      graph_of_[i] = it->second;
    }
  }

  void count_calls() {
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      if (unit_[i] != i || !scope_.holds(regions_.calls[i].node)) continue;
      GraphCost& graph = out_.graphs[graph_of_[i]];
      ++graph.calls;
      graph.cpu_ns += tree_.duration_ns(regions_.calls[i].node);
    }
  }

  std::uint32_t unit_at(NodeId node) const {
    const std::uint32_t call = regions_.call_at(node);
    return call == kNoCall ? kNoCall : unit_[call];
  }
  std::string_view name_of_node(NodeId node) const { return trace_.text(trace_.events.name(tree_.event[node.value])); }

  // Launch calls and the ops that stand directly under a graph.
  void count_launches() {
    if (regions_.calls.empty()) return;
    const NameFlags starting(trace_, starts_work);
    top_op_.assign(tree_.size(), kNoNode);
    const Autotuning& tuning = model_.autotuning();
    for (std::uint32_t n = 0; n < tree_.size(); ++n) {
      const std::uint32_t unit = unit_at(NodeId{n});
      if (unit == kNoCall || regions_.calls[unit].node.value == n) continue;
      if (const NodeId parent = tree_.parent[n]; parent != kNoNode) top_op_[n] = top_op_[parent.value];
      if (tuning.holds(NodeId{n}) || !scope_.holds(regions_.calls[unit].node)) continue;
      const StringId id = trace_.events.name(tree_.event[n]);
      if (tree_.event_class[n] == EventClass::launch) {
        if (starting[id]) ++out_.graphs[graph_of_[unit]].launches;
      } else if (tree_.event_class[n] == EventClass::op && top_op_[n] == kNoNode) {
        top_op_[n] = NodeId{n};
        const std::string_view op = trace_.text(id);
        if (is_mark(op) || is_by_design(op)) continue;
        FallbackOp& fallback = fallback_of(graph_of_[unit], id, op);
        ++fallback.calls;
        fallback.cpu_ns += tree_.duration_ns(NodeId{n});
      }
    }
  }

  FallbackOp& fallback_of(std::uint32_t graph, StringId name, std::string_view op) {
    std::vector<FallbackOp>& list = out_.graphs[graph].fallbacks;
    const auto [it, added] = fallback_index_.try_emplace({graph, name.value}, static_cast<std::uint32_t>(list.size()));
    if (added) list.push_back({.op = op});
    return list[it->second];
  }

  void count_device_work() {
    for (const Device& device : model_.timeline().devices) {
      if (!scope_.has_device(device.id)) continue;
      struct Span {
        std::int64_t start_ns, end_ns;
      };
      std::unordered_map<std::uint32_t, Span> spans;  // of each call of a graph
      std::vector<Interval> busy;
      for (const WorkRow& work : device.work) {
        if (!scope_.holds_work(work.row)) continue;
        busy.push_back({work.start_ns, work.end_ns});
        out_.has_device_work = true;
        const std::int64_t duration = work.end_ns - work.start_ns;
        const NodeId launch = model_.links().launch[work.row];
        const std::uint32_t unit = unit_at(launch);
        const CoveragePart part = part_of(work.row, launch, unit);
        Coverage& covered = out_.coverage[static_cast<std::size_t>(part)];
        ++covered.events;
        covered.gpu_ns += duration;
        if (part != CoveragePart::graph) continue;
        GraphCost& graph = out_.graphs[graph_of_[unit]];
        graph.gpu_ns += duration;
        ++graph.kernels;
        const auto category = static_cast<std::size_t>(model_.identities()[work.row].category);
        graph.category_ns[category] += duration;
        ++graph.category_kernels[category];
        const auto [span, added] = spans.try_emplace(unit, Span{work.start_ns, work.end_ns});
        if (!added) span->second.end_ns = std::max(span->second.end_ns, work.end_ns);
        add_to_fallback(launch, unit, duration);
      }
      const BusyClock clock{IntervalSet(std::move(busy))};
      for (const auto& [unit, span] : spans) {
        GraphCost& graph = out_.graphs[graph_of_[unit]];
        graph.span_ns += span.end_ns - span.start_ns;
        graph.busy_ns += clock.between(span.start_ns, span.end_ns);
      }
    }
  }

  void add_to_fallback(NodeId launch, std::uint32_t unit, std::int64_t duration) {
    const NodeId op = top_op_[launch.value];
    if (op == kNoNode) return;
    const auto it = fallback_index_.find({graph_of_[unit], trace_.events.name(tree_.event[op.value]).value});
    if (it != fallback_index_.end()) out_.graphs[graph_of_[unit]].fallbacks[it->second].gpu_ns += duration;
  }

  bool compiling(NodeId node) const {
    const std::vector<IntervalSet>& times = model_.compile_phases().of_thread;
    if (times.empty()) return false;
    const auto thread = std::upper_bound(tree_.threads.begin(), tree_.threads.end(), node.value,
                                         [](std::uint32_t n, const HostThread& t) { return n < t.first; });
    const auto list = times[static_cast<std::size_t>(thread - tree_.threads.begin() - 1)].intervals();
    const std::int64_t time = tree_.start_ns[node.value];
    const auto it =
        std::upper_bound(list.begin(), list.end(), time, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
    return it != list.begin() && time < (it - 1)->end_ns;
  }

  CoveragePart part_of(std::uint32_t row, NodeId launch, std::uint32_t unit) const {
    if (model_.autotuning().holds_work(row)) return CoveragePart::autotune;
    if (unit != kNoCall) return CoveragePart::graph;
    if (model_.identities()[row].library == "inductor") return CoveragePart::inductor_kernel;
    if (launch == kNoNode) return CoveragePart::before_window;
    if (compiling(launch)) return CoveragePart::compiler;
    if (regions_.call_at(launch) != kNoCall) return CoveragePart::compiled_frame;
    return is_graph_launch(name_of_node(launch)) ? CoveragePart::graph_replay : CoveragePart::eager;
  }

  // The Python frame that runs behind a lookup: the next slice with the same parent.
  NodeId frame_behind(NodeId lookup) const {
    const std::int64_t end = tree_.end_ns[lookup.value];
    for (std::uint32_t n = lookup.value + 1; n < tree_.size() && n < lookup.value + 200; ++n) {
      if (tree_.start_ns[n] < end || tree_.parent[n] != tree_.parent[lookup.value]) continue;
      return tree_.event_class[n] == EventClass::python_frame ? NodeId{n} : kNoNode;
    }
    return kNoNode;
  }

  void count_lookups() {
    std::map<std::pair<LookupOutcome, std::string>, LookupCount> counts;
    for (const CacheLookup& lookup : regions_.lookups) {
      if (!scope_.holds(lookup.node)) continue;
      std::string location;
      NodeId frame = kNoNode;
      if (lookup.outcome == LookupOutcome::not_compiled) {
        frame = frame_behind(lookup.node);
        const auto name = frame == kNoNode ? std::nullopt : parse_frame_name(name_of_node(frame));
        if (name)
          location = location_of(*name);
        else
          frame = kNoNode;
      }
      LookupCount& count = counts[{lookup.outcome, location}];
      count.outcome = lookup.outcome;
      count.location = location;
      ++count.lookups;
      count.cpu_ns += tree_.duration_ns(lookup.node);
      if (frame != kNoNode) count.frame_ns += tree_.duration_ns(frame);
    }
    for (auto& [key, count] : counts) out_.lookups.push_back(std::move(count));
  }

  void count_replays() {
    const GraphReplays& replays = model_.graph_replays();
    std::vector<std::int64_t> device_of(replays.rows.empty() ? 0 : trace_.of(EventClass::device_work).size());
    if (!device_of.empty()) {
      for (const Device& device : model_.timeline().devices) {
        for (const WorkRow& work : device.work) device_of[work.row] = device.id;
      }
    }
    std::vector<ReplayCost> costs(replays.graphs.size());
    for (const GraphReplay& replay : replays.replays) {
      const auto rows = replays.rows_of(replay);
      if (!scope_.holds(replay.launch) || !scope_.has_device(device_of[rows[0]])) continue;
      ReplayCost& cost = costs[replay.graph];
      cost.graph = replay.graph;
      cost.nodes.resize(rows.size());
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int64_t ns = trace_.events.dur_ns(trace_.of(EventClass::device_work)[rows[i]]).value_or(0);
        ReplayCost::Node& node = cost.nodes[i];
        node.min_gpu_ns = cost.replays == 0 ? ns : std::min(node.min_gpu_ns, ns);
        node.max_gpu_ns = std::max(node.max_gpu_ns, ns);
        node.gpu_ns += ns;
        sum += ns;
      }
      cost.min_gpu_ns = cost.replays == 0 ? sum : std::min(cost.min_gpu_ns, sum);
      cost.max_gpu_ns = std::max(cost.max_gpu_ns, sum);
      cost.gpu_ns += sum;
      cost.launch_ns += tree_.duration_ns(replay.launch);
      ++cost.replays;
    }
    std::erase_if(costs, [](const ReplayCost& cost) { return cost.replays == 0; });
    std::stable_sort(costs.begin(), costs.end(), [](const ReplayCost& a, const ReplayCost& b) { return a.gpu_ns > b.gpu_ns; });
    out_.replays = std::move(costs);
  }

  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  Graphs out_;
  std::vector<std::uint32_t> unit_;      // by call: the call that stands for its graph
  std::vector<std::uint32_t> graph_of_;  // by call that is a unit: its row
  std::vector<NodeId> top_op_;           // by node inside a graph: the op directly under the graph
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> fallback_index_;
};

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
    if (graph.category_ns[c] * 100 >= graph.gpu_ns && graph.category_ns[c] > 0)
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
  for (const FallbackOp& op : graph.fallbacks) text += (text.empty() ? "" : ", ") + std::string(op.op);
  return text;
}

std::string phase_of(const GraphCost& graph) { return graph.backward ? "backward" : "forward"; }

Table graphs_table(const Graphs& graphs) {
  Table table;
  table.name = "graphs";
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
    table.rows.push_back({std::string(g.graph), phase_of(g), frame_cell(g.id), g.calls, g.cpu_ns,
                          device ? Cell(g.gpu_ns) : Cell(), cells::percent(g.busy_ns, g.span_ns), g.launches,
                          cells::text(fallbacks_text(g)), cells::text(categories_text(g)), compile_cell(g.id),
                          device ? Cell(g.kernels) : Cell(), cells::percent(g.gpu_ns, whole)});
    sum.calls += g.calls;
    sum.cpu_ns += g.cpu_ns;
    sum.gpu_ns += g.gpu_ns;
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
    table.rows.push_back({std::string(name_of(part)), compiled, c.events, c.gpu_ns, cells::percent(c.gpu_ns, whole)});
    events += c.events;
  }
  table.total = Row{Cell(), Cell(), events, whole, cells::percent(whole, whole)};
  return table;
}

Table state_table(const Graphs& graphs) {
  const CompiledRegions& regions = graphs.model->compiled_regions();
  std::int64_t region_calls = 0, lookups = 0, not_compiled = 0;
  for (const CompiledCall& call : regions.calls) region_calls += call.sort == CompiledSort::region;
  for (const LookupCount& count : graphs.lookups) {
    lookups += count.lookups;
    if (count.outcome == LookupOutcome::not_compiled) not_compiled += count.lookups;
  }
  Table table;
  table.name = "torch_compile";
  table.key_value = true;
  table.columns = {{"applied", Type::boolean},
                   {"graphs", Type::integer, Unit::count},
                   {"region_calls", Type::integer, Unit::count},
                   {"lookups", Type::integer, Unit::count},
                   {"lookups_not_compiled", Type::integer, Unit::count},
                   {"pct_gpu_time_compiled", Type::number, Unit::percent}};
  std::int64_t compiled_ns = 0;
  for (const CoveragePart part : {CoveragePart::graph, CoveragePart::inductor_kernel})
    compiled_ns += graphs.coverage[static_cast<std::size_t>(part)].gpu_ns;
  table.rows.push_back({graphs.compiled(), static_cast<std::int64_t>(graphs.graphs.size()), region_calls, lookups, not_compiled,
                        graphs.calls_recorded() ? cells::percent(compiled_ns, graphs.gpu_ns()) : Cell()});
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
    table.rows.push_back({std::string(name_of(count.outcome)), count.lookups, count.cpu_ns,
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
                   {"graph", Type::text}};
  for (const GraphCost& g : graphs.graphs) {
    for (const FallbackOp& op : g.fallbacks) {
      table.rows.push_back({std::string(op.op), phase_of(g), frame_cell(g.id), op.calls, op.cpu_ns,
                            graphs.has_device_work ? Cell(op.gpu_ns) : Cell(), std::string(g.graph)});
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
      table.rows.push_back({std::string(g.graph), phase_of(g), frame_cell(g.id), std::string(name_of(static_cast<Category>(c))),
                            g.category_kernels[c], g.category_ns[c], cells::percent(g.category_ns[c], g.gpu_ns)});
    }
  }
  return table;
}

std::int64_t mean(std::int64_t sum, std::int64_t count) { return count == 0 ? 0 : (sum + count / 2) / count; }

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
                   {"ops_from", Type::text}};
  for (const ReplayCost& cost : graphs.replays) {
    const ReplayedGraph& graph = replays.graphs[cost.graph];
    table.rows.push_back({graph_name(replays, cost.graph), cost.replays, static_cast<std::int64_t>(cost.nodes.size()),
                          cost.gpu_ns, mean(cost.gpu_ns, cost.replays), cost.min_gpu_ns, cost.max_gpu_ns,
                          mean(cost.launch_ns, cost.replays), cells::text(name_of(graph.source))});
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
      table.rows.push_back({graph_name(replays, cost.graph), static_cast<std::int64_t>(i), cost.replays,
                            mean(node.gpu_ns, cost.replays), node.min_gpu_ns, node.max_gpu_ns,
                            op == kNoNode ? Cell() : Cell(std::string(trace.text(trace.events.name(tree.event[op.value])))),
                            op == kNoNode ? Cell() : cells::text(name_of(graph.source)),
                            std::string(trace.text(graph.nodes[i]))});
    }
  }
  return table;
}

}  // namespace

std::string_view name_of(CoveragePart part) {
  constexpr std::string_view kNames[] = {"graph",        "inductor_kernel", "compiled_frame", "eager",
                                         "graph_replay", "autotune",        "compiler",       "before_window"};
  return kNames[static_cast<std::size_t>(part)];
}

bool Graphs::compiled() const {
  const CompiledRegions& regions = model->compiled_regions();
  return !regions.calls.empty() || !regions.lookups.empty() ||
         coverage[static_cast<std::size_t>(CoveragePart::inductor_kernel)].events > 0;
}

bool Graphs::calls_recorded() const {
  return !model->compiled_regions().calls.empty() ||
         coverage[static_cast<std::size_t>(CoveragePart::inductor_kernel)].events == 0;
}

std::int64_t Graphs::gpu_ns() const {
  std::int64_t sum = 0;
  for (const Coverage& part : coverage) sum += part.gpu_ns;
  return sum;
}

Graphs compute_graphs(const Scope& scope) { return Computer(scope).compute(); }

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
                                  "compiled code cannot be told from "
                                  "eager ones"});
  }
  return report;
}

Result<Report> run_graphs(const Scope& scope, const Arguments&) { return report_graphs(compute_graphs(scope)); }

}  // namespace ridge
