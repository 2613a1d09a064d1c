// Twice the same pass as replay.cc, over what is inside; lanes go on where they ended.
#include "predict/steady_step.h"

#include <algorithm>
#include <utility>

namespace ridge {
namespace {

constexpr std::int64_t kNever = INT64_MIN;

}  // namespace

SteadyStep::SteadyStep(const StepGraph& graph, std::vector<bool> inside, std::int64_t host_start_ns, std::int64_t iterations)
    : graph_(graph),
      inside_(std::move(inside)),
      host_start_ns_(host_start_ns),
      iterations_(std::max<std::int64_t>(1, iterations)) {}

void SteadyStep::replay_once(const StepTimes& times, Round* round) const {
  BulkVector<std::int64_t>& start = round->start_ns;
  BulkVector<std::int64_t>& end = round->end_ns;
  std::int64_t last = kNever;
  for (const std::uint32_t node : graph_.order) {
    if (!inside_[node]) continue;
    std::int64_t edges = kNever, unexplained = 0;
    for (std::uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1]; ++e) {
      const std::uint32_t from = graph_.edge_from[e];
      if (times.edge_lag_ns[e] == kNoWait || !inside_[from]) continue;
      edges = std::max(edges, (graph_.kind[from] == StepKind::launch ? start[from] : end[from]) + times.edge_lag_ns[e]);
      if (graph_.kind[from] == StepKind::launch)
        unexplained = std::max(unexplained, late_ns(graph_, node, times.edge_lag_ns[e]));
    }
    const bool follows = !graph_.leads[node] && inside_[node - 1];
    const auto lane = static_cast<std::size_t>(follows ? 0 : &graph_.lane_of(node) - graph_.lanes.data());
    const std::int64_t before = follows ? end[node - 1] : round->lane_end_ns[lane];
    const bool waits = graph_.kind[node] == StepKind::wait;
    if (graph_.is_device(node)) {
      std::int64_t at = edges;
      if (before != kNever) at = std::max(at, before + times.gap_ns[node - graph_.first_device]);
      if (before != kNever && unexplained > 0) at = std::max(at, before + unexplained);
      if (follows) at = std::max(at, start[node - 1]);
      start[node] = at == kNever ? host_start_ns_ : at;
      end[node] = start[node] + times.duration_ns[node];
    } else {
      const std::int64_t behind = before != kNever ? before : waits && edges != kNever ? edges : host_start_ns_;
      start[node] = waits ? behind : std::max(behind, edges);
      end[node] = start[node] + times.duration_ns[node];
      if (waits) end[node] = std::max(end[node], edges);
    }
    last = std::max(last, end[node]);
  }
  for (std::size_t lane = 0; lane < graph_.lanes.size(); ++lane) {
    const StepLane& l = graph_.lanes[lane];
    for (std::uint32_t node = l.first + l.count; node > l.first; --node) {
      if (!inside_[node - 1]) continue;
      round->lane_end_ns[lane] = end[node - 1];
      break;
    }
  }
  round->end_ns_of_all = last;
}

std::int64_t SteadyStep::twice(const StepTimes& times, Round* round) const {
  round->start_ns.resize(graph_.size());
  round->end_ns.resize(graph_.size());
  round->lane_end_ns.assign(graph_.lanes.size(), kNever);
  replay_once(times, round);
  const std::int64_t first = round->end_ns_of_all;
  if (first != kNever) replay_once(times, round);
  return first;
}

std::int64_t SteadyStep::step_ns(const StepTimes& times) const {
  Round round;
  const std::int64_t first = twice(times, &round);
  return first == kNever ? 0 : (round.end_ns_of_all - first + iterations_ / 2) / iterations_;
}

SteadyStep::Second SteadyStep::second(const StepTimes& times) const {
  Round round;
  const std::int64_t first = twice(times, &round);
  Second out;
  if (first == kNever) return out;
  out.span = {first, round.end_ns_of_all};
  for (const StepLane& lane : graph_.lanes) {
    std::int64_t at = INT64_MIN / 4;  // before the first inside
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (!inside_[node]) round.start_ns[node] = round.end_ns[node] = at;
      at = round.end_ns[node];
    }
  }
  out.replayed = {std::move(round.start_ns), std::move(round.end_ns)};
  return out;
}

}  // namespace ridge
