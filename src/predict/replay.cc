// The pass itself. See step_graph.h for what starts when.
#include "predict/replay.h"

#include <algorithm>

#include "base/stop.h"

namespace ridge {
namespace {

Replayed run(const StepGraph& graph, const BulkVector<std::int64_t>& duration, const BulkVector<std::int64_t>& gap,
             const BulkVector<std::int64_t>& lag) {
  Stop::look();
  Replayed out;
  out.start_ns.resize(graph.size());
  out.end_ns.resize(graph.size());
  for (const std::uint32_t node : graph.order) {
    std::int64_t edges = INT64_MIN, unexplained = 0;
    for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e) {
      if (lag[e] == kNoWait) continue;
      const std::uint32_t from = graph.edge_from[e];
      const std::int64_t passed = graph.kind[from] == StepKind::launch ? out.start_ns[from] : out.end_ns[from];
      edges = std::max(edges, passed + lag[e]);
      if (graph.kind[from] == StepKind::launch) unexplained = std::max(unexplained, late_ns(graph, node, lag[e]));
    }
    const bool leads = graph.leads[node];
    if (graph.is_device(node)) {
      std::int64_t start = edges;
      if (!leads) {
        // Work that began before the one before it had ended begins no earlier than that one.
        const std::int64_t behind = out.end_ns[node - 1] + gap[node - graph.first_device];
        start = std::max({start, behind, out.start_ns[node - 1]});
        if (unexplained > 0) start = std::max(start, out.end_ns[node - 1] + unexplained);
      } else if (edges == INT64_MIN) {
        start = graph.start_ns[node];
      }
      out.start_ns[node] = start;
      out.end_ns[node] = start + duration[node];
      continue;
    }
    const std::int64_t behind = leads ? graph.start_ns[node] : out.end_ns[node - 1];
    const bool waits = graph.kind[node] == StepKind::wait;
    const bool woken = waits && leads && edges != INT64_MIN;  // a thread that waits from the start has no time of its own
    out.start_ns[node] = waits ? (woken ? std::min(behind, edges) : behind) : std::max(behind, edges);
    out.end_ns[node] = out.start_ns[node] + duration[node];
    if (waits) out.end_ns[node] = woken ? edges : std::max(out.end_ns[node], edges);
  }
  return out;
}

}  // namespace

std::int64_t late_ns(const StepGraph& graph, std::uint32_t node, std::int64_t lag_ns) {
  constexpr std::int64_t kLateNs = 1'000'000;  // below, a first use or a busy host link may explain it
  if (lag_ns <= kLateNs || !graph.is_device(node)) return 0;
  const std::int64_t late = lag_ns - kLongestLatencyNs;
  if (graph.leads[node]) return late;
  return std::clamp<std::int64_t>(graph.start_ns[node] - graph.start_ns[node - 1] - graph.duration_ns[node - 1], 0, late);
}

Replayed replay(const StepGraph& graph) { return run(graph, graph.duration_ns, graph.gap_ns, graph.edge_lag_ns); }

Replayed replay(const StepGraph& graph, const StepTimes& times) {
  return run(graph, times.duration_ns, times.gap_ns, times.edge_lag_ns);
}

}  // namespace ridge
