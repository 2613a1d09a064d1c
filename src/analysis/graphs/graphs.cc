// One pass each over calls, launches, device work, lookups and replays. Work lands in exactly one coverage part.
#include "analysis/graphs/graphs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/cpu_kernels_table.h"
#include "base/saturating.h"
#include "facts/graph_busy.h"
#include "model/cpu_kernels.h"
#include "model/frame_name.h"
#include "model/name_flags.h"
#include "ops/op_work.h"

namespace ridge {
namespace {

// Besides matrix work.
// clang-format off
constexpr std::string_view kByDesign[] = {
    "randint", "matmul", "dot", "empty", "empty_strided", "empty_like", "as_strided", "view", "slice", "select", "detach",
    "alias", "resize_", "set_", "reshape", "t", "transpose", "permute", "expand", "squeeze", "unsqueeze", "copy_",
    "_foreach_copy_", "record_stream", "lift_fresh", "contiguous", "clone",
};
// clang-format on

// Wrapper ops that only mark a launch or the compiler's own work.
bool is_mark(std::string_view op) { return op.starts_with("triton_") || is_compile_overhead(op) || op.find("::") == op.npos; }

class GraphsReader {
 public:
  explicit GraphsReader(const Scope& scope)
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
    count_regions();
    for (GraphCost& graph : out_.graphs) {
      if (!graph.inductor) graph.fallbacks.clear();
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
  // The calls that stand for compiled graphs: graph calls; in traces without, the autograd functions and the regions that hold
  // none.
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
        graph.inductor = call.sort == CompiledSort::graph;
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
      saturating_add(&graph.cpu_ns, tree_.duration_ns(regions_.calls[i].node));
    }
  }

  // A region has no name that a user would filter by: it counts with the graphs of its frame, forward or backward.
  void count_regions() {
    std::set<CompileId> listed;
    for (const GraphCost& graph : out_.graphs) listed.insert(graph.id);
    for (const CompiledCall& call : regions_.calls) {
      if (call.sort != CompiledSort::region || !scope_.holds(call.node)) continue;
      out_.region_calls += !scope_.filtered() || listed.contains(call.id);
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
    const CompilerWork& compilers = model_.compiler_work();
    for (std::uint32_t n = 0; n < tree_.recorded; ++n) {
      const std::uint32_t unit = unit_at(NodeId{n});
      if (unit == kNoCall || regions_.calls[unit].node.value == n) continue;
      if (const NodeId parent = tree_.parent[n]; parent != kNoNode) top_op_[n] = top_op_[parent.value];
      if (compilers.holds(NodeId{n}) || !scope_.holds(regions_.calls[unit].node)) continue;
      const StringId id = trace_.events.name(tree_.event[n]);
      if (tree_.event_class[n] == EventClass::launch) {
        if (starting[id]) ++out_.graphs[graph_of_[unit]].launches;
      } else if (tree_.event_class[n] == EventClass::op && top_op_[n] == kNoNode) {
        top_op_[n] = NodeId{n};
        const std::string_view op = trace_.text(id);
        if (op.starts_with("triton_") || is_cpu_kernel(trace_, tree_, NodeId{n})) out_.graphs[graph_of_[unit]].inductor = true;
        if (is_mark(op) || is_by_design(op)) continue;
        FallbackOp& fallback = fallback_of(graph_of_[unit], id, op);
        const std::int64_t duration = tree_.duration_ns(NodeId{n});
        if (fallback.calls == 0 || duration > tree_.duration_ns(fallback.longest)) fallback.longest = NodeId{n};
        ++fallback.calls;
        saturating_add(&fallback.cpu_ns, duration);
      }
    }
  }

  FallbackOp& fallback_of(std::uint32_t graph, StringId name, std::string_view op) {
    std::vector<FallbackOp>& list = out_.graphs[graph].fallbacks;
    const auto [it, added] = fallback_index_.try_emplace({graph, name.value}, static_cast<std::uint32_t>(list.size()));
    if (added) list.push_back({.op = op, .custom = !op.starts_with("aten::")});
    return list[it->second];
  }

  void count_device_work() {
    for (const Device& device : model_.timeline().devices) {
      if (!scope_.has_device(device.id)) continue;
      GraphBusy busy(model_, device);
      for (const WorkRow& work : device.work) {
        if (!scope_.holds_work(work.row)) continue;
        out_.has_device_work = true;
        const std::int64_t duration = work.end_ns - work.start_ns;
        const NodeId launch = model_.links().launch[work.row];
        const std::uint32_t unit = unit_at(launch);
        const CoveragePart part = part_of(work.row, launch, unit);
        Coverage& covered = out_.coverage[static_cast<std::size_t>(part)];
        ++covered.events;
        saturating_add(&covered.gpu_ns, duration);
        if (part != CoveragePart::graph) continue;
        GraphCost& graph = out_.graphs[graph_of_[unit]];
        saturating_add(&graph.gpu_ns, duration);
        ++graph.kernels;
        graph.inductor = graph.inductor || model_.identities()[work.row].library == "inductor";
        const auto category = static_cast<std::size_t>(model_.identities()[work.row].category);
        saturating_add(&graph.category_ns[category], duration);
        ++graph.category_kernels[category];
        busy.add(graph_of_[unit], regions_.calls[unit].node, work);
        add_to_fallback(launch, unit, duration);
      }
      for (const GraphBusy::Share& share : busy.shares(scope_.window())) {
        saturating_add(&out_.graphs[share.graph].span_ns, share.span_ns);
        saturating_add(&out_.graphs[share.graph].busy_ns, share.busy_ns);
      }
    }
  }

  void add_to_fallback(NodeId launch, std::uint32_t unit, std::int64_t duration) {
    const NodeId op = top_op_[launch.value];
    if (op == kNoNode) return;
    const auto it = fallback_index_.find({graph_of_[unit], trace_.events.name(tree_.event[op.value]).value});
    if (it != fallback_index_.end()) saturating_add(&out_.graphs[graph_of_[unit]].fallbacks[it->second].gpu_ns, duration);
  }

  CoveragePart part_of(std::uint32_t row, NodeId launch, std::uint32_t unit) const {
    if (model_.autotuning().holds_work(row)) return CoveragePart::autotune;
    if (model_.compiler_work().holds_work(row)) return CoveragePart::compiler;
    if (unit != kNoCall) return CoveragePart::graph;
    if (model_.identities()[row].library == "inductor") return CoveragePart::inductor_kernel;
    if (launch == kNoNode) return CoveragePart::before_window;
    if (regions_.call_at(launch) != kNoCall) return CoveragePart::compiled_frame;
    return is_graph_launch(name_of_node(launch)) ? CoveragePart::graph_replay : CoveragePart::eager;
  }

  // The Python frame that runs behind a lookup: the next slice with the same parent.
  NodeId frame_behind(NodeId lookup) const {
    const std::int64_t end = tree_.end_ns[lookup.value];
    for (std::uint32_t n = lookup.value + 1; n < tree_.recorded && n < lookup.value + 200; ++n) {
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
      saturating_add(&count.cpu_ns, tree_.duration_ns(lookup.node));
      if (frame != kNoNode) saturating_add(&count.frame_ns, tree_.duration_ns(frame));
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
        saturating_add(&node.gpu_ns, ns);
        saturating_add(&sum, ns);
      }
      cost.min_gpu_ns = cost.replays == 0 ? sum : std::min(cost.min_gpu_ns, sum);
      cost.max_gpu_ns = std::max(cost.max_gpu_ns, sum);
      saturating_add(&cost.gpu_ns, sum);
      saturating_add(&cost.launch_ns, tree_.duration_ns(replay.launch));
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

}  // namespace

bool is_by_design(std::string_view op) {
  if (const std::size_t colons = op.find("::"); colons != op.npos) {
    if (op.substr(0, colons) != "aten") return false;
    op.remove_prefix(colons + 2);
  }
  if (std::find(std::begin(kByDesign), std::end(kByDesign), op) != std::end(kByDesign)) return true;
  const OpFormula* row = find_op_by_plain_name(op);
  return (row != nullptr && is_matrix_work(*row)) || op.starts_with("_scaled_dot_product");
}

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
  for (const Coverage& part : coverage) saturating_add(&sum, part.gpu_ns);
  return sum;
}

Graphs compute_graphs(const Scope& scope) { return GraphsReader(scope).compute(); }

Result<Report> run_graphs(const Scope& scope, const Arguments&) {
  Report report = report_graphs(compute_graphs(scope));
  if (auto kernels = cpu_kernels_table(scope)) report.tables.push_back(std::move(*kernels));
  return report;
}

}  // namespace ridge
