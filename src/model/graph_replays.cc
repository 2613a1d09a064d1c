#include "model/graph_replays.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/name_flags.h"
#include "trace/tables.h"

namespace ridge {
namespace {

std::size_t hash_of(const ReplayedGraph& graph) {
  std::size_t h = static_cast<std::size_t>(graph.id.value_or(-1));
  const auto add = [&](StringId text) { h = (h ^ text.value) * 0x9E3779B97F4A7C15 + (h >> 29); };
  for (const StringId name : graph.nodes) add(name);
  for (const StringId grid : graph.grids) add(grid);
  return h;
}

bool is_same_graph(const ReplayedGraph& a, const ReplayedGraph& b) {
  return a.id == b.id && a.nodes == b.nodes && a.grids == b.grids;
}

// Rows of one launch in the order of the graph: by node id where every row has one, else by start.
void order_nodes(const Trace& trace, const DeviceWorkTable& table, std::span<std::uint32_t> rows) {
  const bool numbered = std::all_of(
      rows.begin(), rows.end(), [&](std::uint32_t row) { return table.graph_node_id.integer(table.events[row]).has_value(); });
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t row) {
      const EventId event = table.events[row];
      return std::tuple(numbered ? *table.graph_node_id.integer(event) : 0, trace.events.ts_ns(event), row);
    };
    return key(a) < key(b);
  });
}

void group_replays(const Trace& trace, const CallTree& tree, const LaunchLinks& links, const NameFlags& launches,
                   GraphReplays* out) {
  const DeviceWorkTable table = device_work(trace);
  std::vector<std::pair<NodeId, std::uint32_t>> under;  // (launch, row)
  for (std::uint32_t row = 0; row < links.launch.size(); ++row) {
    const NodeId launch = links.launch[row];
    if (launch != kNoNode && launches[trace.events.name(tree.event[launch.value])]) under.emplace_back(launch, row);
  }
  std::sort(under.begin(), under.end());
  std::unordered_multimap<std::size_t, std::uint32_t> graph_of;
  for (std::size_t i = 0; i < under.size();) {
    GraphReplay replay{.launch = under[i].first, .first = static_cast<std::uint32_t>(out->rows.size())};
    for (; i < under.size() && under[i].first == replay.launch; ++i) out->rows.push_back(under[i].second);
    const std::span<std::uint32_t> rows = std::span(out->rows).subspan(replay.first);
    order_nodes(trace, table, rows);
    ReplayedGraph graph{.id = table.graph_id.integer(table.events[rows[0]]), .nodes = {}, .grids = {}, .ops = {}};
    for (const std::uint32_t row : rows) {
      graph.nodes.push_back(trace.events.name(table.events[row]));
      graph.grids.push_back(table.grid.text(table.events[row]).value_or(StringId{}));
    }
    const std::size_t hash = hash_of(graph);
    const auto [from, to] = graph_of.equal_range(hash);
    const auto known =
        std::find_if(from, to, [&](const auto& entry) { return is_same_graph(out->graphs[entry.second], graph); });
    if (known != to) {
      replay.graph = known->second;
    } else {
      replay.graph = static_cast<std::uint32_t>(out->graphs.size());
      graph_of.emplace(hash, replay.graph);
      out->graphs.push_back(std::move(graph));
    }
    ++out->graphs[replay.graph].replays;
    out->replays.push_back(replay);
  }
}

// Work launched one by one, in order of launch, where a graph's sequence may be found again.
struct EagerRun {
  std::vector<StringId> names, grids;
  std::vector<NodeId> ops;
  std::vector<std::uint32_t> thread;
  std::unordered_map<StringId, std::vector<std::uint32_t>> places;  // of each name
};

EagerRun eager_work(const Trace& trace, const CallTree& tree, const LaunchLinks& links, const NameFlags& launches) {
  const DeviceWorkTable table = device_work(trace);
  const auto& work = trace.of(EventClass::device_work);
  std::vector<std::pair<NodeId, std::uint32_t>> order;
  for (std::uint32_t row = 0; row < work.size(); ++row) {
    const NodeId launch = links.launch[row];
    if (launch != kNoNode && !launches[trace.events.name(tree.event[launch.value])]) order.emplace_back(launch, row);
  }
  std::sort(order.begin(), order.end());
  EagerRun run;
  for (const auto& [launch, row] : order) {
    run.places[trace.events.name(work[row])].push_back(static_cast<std::uint32_t>(run.names.size()));
    run.names.push_back(trace.events.name(work[row]));
    run.grids.push_back(table.grid.text(work[row]).value_or(StringId{}));
    run.ops.push_back(links.op[row]);
    run.thread.push_back(trace.track(tree.event[launch.value]).value);
  }
  return run;
}

// What tells one op from another, as far as its kernels' costs go.
struct OpKey {
  StringId name, dims;
  bool operator==(const OpKey&) const = default;
};

class EagerSearch {
 public:
  EagerSearch(const Trace& trace, const CallTree& tree, const EagerRun& run)
      : trace_(trace), tree_(tree), run_(run), dims_(ops(trace).input_dims) {}

  // Looks for the sequence at the places of its rarest name; a name that never ran eager ends the search at once.
  bool recover(ReplayedGraph* graph) const {
    // One name alone says nothing about who launched it; `triton_` is the name of any generated kernel where unique names are off.
    const auto telling =
        std::count_if(graph->nodes.begin(), graph->nodes.end(), [&](StringId name) { return trace_.text(name) != "triton_"; });
    if (telling < 2) return false;
    const std::vector<std::uint32_t>* places = nullptr;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
      const auto it = run_.places.find(graph->nodes[i]);
      if (it == run_.places.end()) return false;
      if (places == nullptr || it->second.size() < places->size()) {
        places = &it->second;
        offset = i;
      }
    }
    constexpr std::size_t kMostRuns = 16;  // compared with each other; a program runs its warm-up a few times
    std::size_t runs = 0;
    for (const std::uint32_t place : *places) {
      if (place < offset || !is_at(*graph, place - offset)) continue;
      merge(place - offset, runs == 0, graph);
      if (++runs == kMostRuns) break;
    }
    if (std::all_of(graph->ops.begin(), graph->ops.end(), [](NodeId op) { return op == kNoNode; })) graph->ops.clear();
    if (!graph->ops.empty()) graph->source = OpSource::eager_run;
    return !graph->ops.empty();
  }

 private:
  bool is_at(const ReplayedGraph& graph, std::size_t first) const {
    const std::size_t last = first + graph.nodes.size() - 1;
    if (last >= run_.names.size() || run_.thread[first] != run_.thread[last]) return false;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i] != run_.names[first + i]) return false;
      const StringId grid = graph.grids[i], ran = run_.grids[first + i];
      if (grid != StringId{} && ran != StringId{} && grid != ran) return false;  // the same kernel on another shape
    }
    return true;
  }

  // Takes the ops of a run, or keeps those of earlier runs that this one agrees with.
  void merge(std::size_t first, bool is_first_run, ReplayedGraph* graph) const {
    if (is_first_run) graph->ops.assign(graph->nodes.size(), kNoNode);
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
      const NodeId op = run_.ops[first + i];
      if (is_first_run) {
        graph->ops[i] = op;
      } else if (graph->ops[i] == kNoNode || op == kNoNode || key(graph->ops[i]) != key(op)) {
        graph->ops[i] = kNoNode;
      }
    }
  }

  OpKey key(NodeId op) const {
    const EventId event = tree_.event[op.value];
    return {trace_.events.name(event), dims_.text(event).value_or(StringId{})};
  }

  const Trace& trace_;
  const CallTree& tree_;
  const EagerRun& run_;
  ArgColumn dims_;
};

// A capture: the launch calls between Begin and EndCapture of a thread start nothing on the device, but become the graph's nodes in order.
struct Capture {
  std::vector<NodeId> launches;
};

std::vector<Capture> captures(const Trace& trace, const CallTree& tree) {
  const NameFlags names(trace, [](std::string_view name) {
    return name.ends_with("StreamBeginCapture") || name.ends_with("StreamEndCapture") || starts_work(name);
  });
  std::vector<Capture> found;
  for (const HostThread& thread : tree.threads) {
    bool open = false;
    Capture capture;
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      if (tree.event_class[n] != EventClass::launch) continue;
      const StringId id = trace.events.name(tree.event[n]);
      if (!names[id]) continue;
      const std::string_view name = trace.text(id);
      if (name.ends_with("StreamBeginCapture")) {
        open = true;
        capture = {};
      } else if (name.ends_with("StreamEndCapture")) {
        if (open && !capture.launches.empty()) found.push_back(std::move(capture));
        open = false;
        capture = {};
      } else if (open) {
        capture.launches.push_back(NodeId{n});
      }
    }
  }
  return found;
}

// What a captured launch says of its kernel: the `kernel` argument (ROCm), or the Triton op around it. Empty when it says nothing.
std::string_view kernel_name(const Trace& trace, const CallTree& tree, NodeId launch, NodeId op) {
  const auto kernel = find_arg(trace, tree.event[launch.value], "kernel");
  if (kernel && kernel->as_text()) return *kernel->as_text();
  if (op == kNoNode) return {};
  const std::string_view name = trace.text(trace.events.name(tree.event[op.value]));
  return name.starts_with("triton_") ? name : std::string_view{};
}

bool recover_from(const Trace& trace, const CallTree& tree, const Capture& capture, ReplayedGraph* graph) {
  if (capture.launches.size() != graph->nodes.size()) return false;
  std::vector<NodeId> ops;
  bool named = graph->id.has_value();
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    ops.push_back(tree.nearest(capture.launches[i], EventClass::op));
    const std::string_view said = kernel_name(trace, tree, capture.launches[i], ops.back());
    const std::string_view is = trace.text(graph->nodes[i]);
    if (!said.empty() && is != "triton_" && said != is) return false;
    named = named || !said.empty();
  }
  if (!named) return false;  // an equal count alone proves nothing
  graph->ops = std::move(ops);
  graph->source = OpSource::capture;
  return true;
}

void list_recovered(const Trace& trace, GraphReplays* out) {
  for (const GraphReplay& replay : out->replays) {
    const ReplayedGraph& graph = out->graphs[replay.graph];
    if (graph.ops.empty()) continue;
    if (out->recovered.empty()) out->recovered.resize(trace.of(EventClass::device_work).size());
    const auto rows = out->rows_of(replay);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (graph.ops[i] != kNoNode) out->recovered[rows[i]] = {graph.ops[i], graph.source};
    }
  }
}

}  // namespace

std::string_view name_of(OpSource source) {
  switch (source) {
    case OpSource::eager_run: return "eager_run";
    case OpSource::capture: return "capture";
    default: return "";
  }
}

bool is_graph_launch(std::string_view call) {
  return call.find("GraphLaunch") != call.npos && call.find("Kernel") == call.npos;
}

bool starts_work(std::string_view call) {
  constexpr std::string_view kVerbs[] = {"Launch", "Memcpy", "Memset", "memcpy", "memset"};
  return std::any_of(std::begin(kVerbs), std::end(kVerbs), [&](std::string_view verb) { return call.find(verb) != call.npos; });
}

GraphReplays build_graph_replays(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
  GraphReplays out;
  const NameFlags launches(trace, is_graph_launch);
  if (!launches.any()) return out;
  group_replays(trace, tree, links, launches, &out);
  if (out.graphs.empty()) return out;
  const EagerRun run = eager_work(trace, tree, links, launches);
  const std::vector<Capture> captured = captures(trace, tree);
  const EagerSearch search(trace, tree, run);
  for (ReplayedGraph& graph : out.graphs) {
    if (search.recover(&graph)) continue;
    std::any_of(captured.begin(), captured.end(),
                [&](const Capture& capture) { return recover_from(trace, tree, capture, &graph); });
  }
  list_recovered(trace, &out);
  return out;
}

}  // namespace ridge
