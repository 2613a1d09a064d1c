// Groups work by its launch and launches by their sequence of nodes. Their ops are found in replay_ops.cc.
#include "model/graph_replays.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/name_flags.h"
#include "model/replay_ops.h"
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
    ReplayedGraph graph;
    graph.id = table.graph_id.integer(table.events[rows[0]]);
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

// The ops that a capture in another trace lends to the nodes (trace/borrowed_calls.h).
void take_borrowed(const Trace& trace, const CallTree& tree, const BorrowedCalls& borrowed, GraphReplays* out) {
  const std::span<const EventId> work = trace.of(EventClass::device_work);
  const auto loan_of = [&](std::uint32_t row) -> const BorrowedCalls::Loan* {
    const auto it = std::lower_bound(borrowed.loans.begin(), borrowed.loans.end(), work[row],
                                     [](const BorrowedCalls::Loan& loan, EventId event) { return loan.work < event; });
    return it != borrowed.loans.end() && it->work == work[row] ? &*it : nullptr;
  };
  const auto node = [&](std::uint32_t index) {
    return index == BorrowedCalls::kNone ? kNoNode : NodeId{tree.recorded + index};
  };
  for (const GraphReplay& replay : out->replays) {
    ReplayedGraph& graph = out->graphs[replay.graph];
    if (graph.source != OpSource::none) continue;
    const auto rows = out->rows_of(replay);
    std::vector<NodeId> ops(rows.size(), kNoNode), launches(rows.size(), kNoNode);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const BorrowedCalls::Loan* loan = loan_of(rows[i]);
      if (loan == nullptr) continue;
      ops[i] = node(loan->op);
      launches[i] = node(loan->launch);
      graph.source = OpSource::capture_file;
      graph.from = borrowed.sources[loan->source];
    }
    if (graph.source == OpSource::none) continue;
    graph.ops = std::move(ops);
    graph.launches = std::move(launches);
  }
}

void list_recovered(const Trace& trace, GraphReplays* out) {
  for (const GraphReplay& replay : out->replays) {
    const ReplayedGraph& graph = out->graphs[replay.graph];
    if (graph.ops.empty()) continue;
    if (out->recovered.empty()) out->recovered.resize(trace.of(EventClass::device_work).size());
    const auto rows = out->rows_of(replay);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (graph.launches[i] != kNoNode) out->recovered[rows[i]] = {graph.ops[i], graph.launches[i], graph.source};
    }
  }
}

}  // namespace

std::string_view name_of(OpSource source) {
  switch (source) {
    case OpSource::eager_run: return "eager_run";
    case OpSource::capture: return "capture";
    case OpSource::capture_file: return "capture_file";
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
  if (trace.borrowed) take_borrowed(trace, tree, *trace.borrowed, &out);
  recover_ops(trace, tree, links, &out);
  list_recovered(trace, &out);
  return out;
}

}  // namespace ridge
