// Lanes first, then one order for all nodes by when they were recorded, then the edges, those only that go forward in it.
#include "predict/step_graph.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/heap_bytes.h"
#include "base/let_go.h"
#include "predict/device_lanes.h"
#include "predict/host_lanes.h"

namespace ridge {
namespace {

// When a node takes its place in the order: a wait when it ends, since what it waits for comes before; device work no earlier
// than its launch. At one time: launches, then their work, then who waits for it.
struct Place {
  std::int64_t time_ns = 0;
  int rank = 0;
  auto operator<=>(const Place&) const = default;
};

class Order {
 public:
  Order(const DeviceLanes& device, StepGraph* graph)
      : device_(device), graph_(*graph), placed_(graph->lanes.size(), Place{INT64_MIN, 0}) {}

  // Merges the lanes, each in its own order: places rise within a lane, so that none overtakes.
  std::vector<std::uint32_t> find() {
    std::vector<std::uint32_t> position(graph_.size());
    graph_.order.reserve(graph_.size());
    using Head = std::tuple<Place, std::uint32_t, std::uint32_t>;  // place, node, lane
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (std::uint32_t lane = 0; lane < graph_.lanes.size(); ++lane) {
      if (graph_.lanes[lane].count > 0) heads.emplace(place(graph_.lanes[lane].first, lane), graph_.lanes[lane].first, lane);
    }
    while (!heads.empty()) {
      const auto [at, node, lane] = heads.top();
      heads.pop();
      position[node] = static_cast<std::uint32_t>(graph_.order.size());
      graph_.order.push_back(node);
      if (node + 1 < graph_.lanes[lane].first + graph_.lanes[lane].count) heads.emplace(place(node + 1, lane), node + 1, lane);
    }
    return position;
  }

 private:
  Place place(std::uint32_t node, std::uint32_t lane) {
    Place own{graph_.start_ns[node], 0};
    if (graph_.is_device(node)) {
      const std::uint32_t launch = device_.launch_of[node - graph_.first_device];
      if (launch != StepGraph::kNone) own.time_ns = std::max(own.time_ns, graph_.start_ns[launch]);
      own.rank = 1;
    } else if (graph_.kind[node] == StepKind::wait) {
      own = {graph_.recorded_end_ns(node), 2};
    }
    return placed_[lane] = std::max(placed_[lane], own);
  }

  const DeviceLanes& device_;
  StepGraph& graph_;
  std::vector<Place> placed_;  // of the last node of each lane
};

void set_edges(std::vector<PendingEdge> pending, StepGraph* graph) {
  graph->first_edge.assign(graph->size() + 1, 0);
  for (const PendingEdge& edge : pending) ++graph->first_edge[edge.to + 1];
  for (std::size_t n = 0; n < graph->size(); ++n) graph->first_edge[n + 1] += graph->first_edge[n];
  graph->edge_from.resize(pending.size());
  graph->edge_lag_ns.resize(pending.size());
  std::vector<std::uint32_t> next(graph->first_edge.begin(), graph->first_edge.end() - 1);
  for (const PendingEdge& edge : pending) {
    const std::uint32_t at = next[edge.to]++;
    graph->edge_from[at] = edge.from;
    graph->edge_lag_ns[at] = edge.lag_ns;
  }
}

void keep_forward(const std::vector<std::uint32_t>& position, std::vector<PendingEdge>* edges, StepGraph* graph) {
  const auto contradicts = [&](const PendingEdge& edge) { return position[edge.from] >= position[edge.to]; };
  for (const PendingEdge& edge : *edges) {
    if (!contradicts(edge)) continue;
    ++graph->evidence.contradictions;
    graph->duration_ns[edge.to] = graph->recorded_end_ns(edge.to) - graph->start_ns[edge.to];
  }
  std::erase_if(*edges, contradicts);
}

}  // namespace

const StepLane& StepGraph::lane_of(std::uint32_t node) const {
  const auto after =
      std::upper_bound(lanes.begin(), lanes.end(), node, [](std::uint32_t n, const StepLane& lane) { return n < lane.first; });
  return *std::prev(after);
}

std::int64_t StepGraph::recorded_end_ns(std::uint32_t node) const {
  if (kind[node] != StepKind::wait || node + 1 >= size() || is_device(node + 1)) return start_ns[node] + duration_ns[node];
  return std::max(start_ns[node], start_ns[node + 1]);
}

std::uint32_t StepGraph::begin_of_call(std::uint32_t launch) const {
  const bool is_slow = !leads[launch] && kind[launch - 1] == StepKind::host && source[launch - 1] != kNone &&
                       source[launch - 1] == source[launch];
  return is_slow ? launch - 1 : launch;
}

std::uint32_t StepGraph::node_at(const StepLane& lane, std::int64_t time_ns) const {
  const auto begin = start_ns.begin() + lane.first;
  const auto after = std::upper_bound(begin, begin + lane.count, time_ns);
  return after == begin ? kNone : static_cast<std::uint32_t>(after - start_ns.begin() - 1);
}

void StepGraph::fit() {
  start_ns.shrink_to_fit();
  duration_ns.shrink_to_fit();
  source.shrink_to_fit();
  kind.shrink_to_fit();
}

std::uint64_t StepGraph::heap_bytes() const {
  return ridge::heap_bytes(start_ns, duration_ns, source, kind, leads, first_edge, order, edge_from, edge_lag_ns, gap_ns,
                           recorder_ns);
}

StepGraph build_step_graph(const Model& model) {
  StepGraph graph;
  HostLanes host = add_host_lanes(model, &graph);
  const DeviceLanes device = add_device_lanes(model, host, &graph);
  graph.fit();
  let_go(host.of_call);
  graph.leads.resize(graph.size());
  for (const StepLane& lane : graph.lanes) {
    if (lane.count > 0) graph.leads[lane.first] = true;
  }
  const std::vector<std::uint32_t> position = Order(device, &graph).find();
  std::vector<PendingEdge> edges = std::move(host.thread_edges);
  keep_forward(position, &edges, &graph);
  const auto add = [&](const std::vector<PendingEdge>& more) { edges.insert(edges.end(), more.begin(), more.end()); };
  add(device_edges(model, device, position, &graph));
  add(host_wait_edges(model, host, device, position, &graph));
  set_edges(std::move(edges), &graph);
  return graph;
}

}  // namespace ridge
