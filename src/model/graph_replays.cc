#include "model/graph_replays.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/name_flags.h"
#include "trace/tables.h"

namespace ridge {
namespace {

std::size_t hash_of(const std::vector<StringId>& names, std::optional<std::int64_t> id) {
  std::size_t h = static_cast<std::size_t>(id.value_or(-1));
  for (const StringId name : names) h = (h ^ name.value) * 0x9E3779B97F4A7C15 + (h >> 29);
  return h;
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
    ReplayedGraph graph{.id = table.graph_id.integer(table.events[rows[0]]), .nodes = {}, .ops = {}};
    for (const std::uint32_t row : rows) graph.nodes.push_back(trace.events.name(table.events[row]));
    const std::size_t hash = hash_of(graph.nodes, graph.id);
    const auto [from, to] = graph_of.equal_range(hash);
    const auto known = std::find_if(from, to, [&](const auto& entry) {
      return out->graphs[entry.second].nodes == graph.nodes && out->graphs[entry.second].id == graph.id;
    });
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
  std::vector<StringId> names;
  std::vector<NodeId> ops;
  std::vector<std::uint32_t> thread;
  std::unordered_map<StringId, std::vector<std::uint32_t>> places;  // of each name
};

EagerRun eager_work(const Trace& trace, const CallTree& tree, const LaunchLinks& links, const NameFlags& launches) {
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
    run.ops.push_back(links.op[row]);
    run.thread.push_back(trace.track(tree.event[launch.value]).value);
  }
  return run;
}

// Looks for the sequence at the places of its rarest name; a name that never ran eager ends the search at once.
bool recover_from(const EagerRun& run, ReplayedGraph* graph) {
  if (graph->nodes.size() < 2) return false;  // one name alone says nothing about who launched it
  const std::vector<std::uint32_t>* places = nullptr;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    const auto it = run.places.find(graph->nodes[i]);
    if (it == run.places.end()) return false;
    if (places == nullptr || it->second.size() < places->size()) {
      places = &it->second;
      offset = i;
    }
  }
  for (const std::uint32_t place : *places) {
    if (place < offset || place - offset + graph->nodes.size() > run.names.size()) continue;
    const std::size_t first = place - offset, last = first + graph->nodes.size() - 1;
    if (run.thread[first] != run.thread[last]) continue;
    if (!std::equal(graph->nodes.begin(), graph->nodes.end(), run.names.begin() + static_cast<std::ptrdiff_t>(first))) continue;
    graph->ops.assign(run.ops.begin() + static_cast<std::ptrdiff_t>(first),
                      run.ops.begin() + static_cast<std::ptrdiff_t>(last + 1));
    graph->source = OpSource::eager_run;
    return true;
  }
  return false;
}

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
  for (ReplayedGraph& graph : out.graphs) {
    if (recover_from(run, &graph)) continue;
    std::any_of(captured.begin(), captured.end(),
                [&](const Capture& capture) { return recover_from(trace, tree, capture, &graph); });
  }
  return out;
}

}  // namespace ridge
