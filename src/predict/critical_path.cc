// The walk back, and the search for paths beside it.
#include "predict/critical_path.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

namespace ridge {
namespace {

constexpr std::string_view kSortNames[] = {"host", "launch", "kernel", "copy", "comm", "sync", "wait"};
constexpr int kMostNearPaths = 2;
constexpr double kMostlyShared = 0.9;  // of a path: no other one

class Walk {
 public:
  Walk(const StepGraph& graph, const StepTimes& times, const Replayed& replayed, const IntervalSet& spans)
      : graph_(graph), times_(times), replayed_(replayed), spans_(spans) {}

  std::vector<PathPiece> back() {
    if (spans_.empty()) return {};
    begin_ = spans_.intervals().front().start_ns;
    at_ = spans_.intervals().back().end_ns;
    span_ = spans_.intervals().size();
    std::uint32_t node = last_node();
    while (at_ > begin_ && node != StepGraph::kNone) node = graph_.is_device(node) ? before_work(node) : before_host(node);
    pass(begin_, {.node = StepGraph::kNone, .sort = PathSort::wait, .pause = true});
    return std::move(pieces_);
  }

 private:
  // What ends last: device work, or the thread that iterations are marked on.
  std::uint32_t last_node() const {
    for (std::uint32_t node = graph_.first_device; node < graph_.size(); ++node) {
      if (replayed_.end_ns[node] == at_) return node;
    }
    const StepLane* lane = graph_.main_lane != StepGraph::kNone ? &graph_.lanes[graph_.main_lane] : nullptr;
    if (lane == nullptr || lane->count == 0) return StepGraph::kNone;
    const auto begin = replayed_.start_ns.begin() + lane->first;
    const auto after = std::lower_bound(begin, begin + lane->count, at_);
    return after == begin ? lane->first : static_cast<std::uint32_t>(after - replayed_.start_ns.begin() - 1);
  }

  // The time from `until` to where the path stands is of that piece, as far as it lies in the spans.
  void pass(std::int64_t until, PathPiece piece) {
    until = std::max(until, begin_);
    if (until >= at_) return;
    for (; span_ > 0 && at_ > until; --span_) {
      const Interval span = spans_.intervals()[span_ - 1];
      const std::int64_t from = std::max(until, span.start_ns), to = std::min(at_, span.end_ns);
      if (to > from) {
        piece.time = {from, to};
        pieces_.push_back(piece);
      }
      if (span.start_ns < until) break;
      at_ = std::min(at_, span.start_ns);
    }
    at_ = until;
  }

  std::int64_t passed(std::uint32_t from) const {
    return graph_.kind[from] == StepKind::launch ? replayed_.start_ns[from] : replayed_.end_ns[from];
  }
  // The edge that was passed last, and when.
  std::optional<std::uint32_t> last_edge(std::uint32_t node, std::int64_t* time) const {
    std::optional<std::uint32_t> last;
    for (std::uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1]; ++e) {
      if (times_.edge_lag_ns[e] == kNoWait) continue;
      const std::int64_t at = passed(graph_.edge_from[e]) + times_.edge_lag_ns[e];
      if (last && at <= *time) continue;
      last = e;
      *time = at;
    }
    return last;
  }

  std::uint32_t behind_edge(std::uint32_t node, std::uint32_t edge, PathSort sort) {
    const std::uint32_t from = graph_.edge_from[edge];
    pass(passed(from), {.node = node, .sort = sort, .pause = true, .edge = edge});
    // Work waits for the start of its launch, and that for what the thread did before.
    if (graph_.kind[from] == StepKind::launch) return graph_.leads[from] ? StepGraph::kNone : from - 1;
    return from;
  }

  std::uint32_t before_work(std::uint32_t node) {
    const StepKind kind = graph_.kind[node];
    const PathSort sort = kind == StepKind::kernel ? PathSort::kernel
                          : kind == StepKind::copy ? PathSort::copy
                                                   : PathSort::comm;
    pass(replayed_.start_ns[node], {.node = node, .sort = sort});
    std::int64_t time = INT64_MIN;
    const auto edge = last_edge(node, &time);
    const bool by_stream = !graph_.leads[node] && (!edge || time < replayed_.start_ns[node]);
    if (by_stream || !edge) {
      if (graph_.leads[node]) return StepGraph::kNone;
      pass(replayed_.end_ns[node - 1], {.node = node, .sort = PathSort::wait, .pause = true});
      return node - 1;
    }
    // So long after its launch that it waited for something that the trace does not tell.
    const bool by_launch =
        graph_.kind[graph_.edge_from[*edge]] == StepKind::launch && late_ns(graph_, node, times_.edge_lag_ns[*edge]) == 0;
    return behind_edge(node, *edge, by_launch ? PathSort::launch : PathSort::wait);
  }

  std::uint32_t before_host(std::uint32_t node) {
    const StepKind kind = graph_.kind[node];
    std::int64_t time = INT64_MIN;
    const auto edge = last_edge(node, &time);
    const bool held = kind == StepKind::wait && edge && time >= replayed_.end_ns[node];
    if (held && (graph_.leads[node] || replayed_.start_ns[node] + times_.duration_ns[node] < time))
      return behind_edge(node, *edge, graph_.source[node] == StepGraph::kNone ? PathSort::wait : PathSort::sync);
    const PathSort own = kind == StepKind::host ? PathSort::host : kind == StepKind::launch ? PathSort::launch : PathSort::sync;
    pass(replayed_.start_ns[node], {.node = node, .sort = own});
    return graph_.leads[node] ? StepGraph::kNone : node - 1;
  }

  const StepGraph& graph_;
  const StepTimes& times_;
  const Replayed& replayed_;
  const IntervalSet& spans_;
  std::int64_t begin_ = 0, at_ = 0;
  std::size_t span_ = 0;  // spans up to here are not yet passed
  std::vector<PathPiece> pieces_;
};

// What a piece would take with the times as they are.
std::int64_t own_length(const StepGraph& graph, const StepTimes& times, const PathPiece& piece) {
  if (piece.node == StepGraph::kNone) return piece.time.length();
  if (!piece.pause) return times.duration_ns[piece.node];
  if (piece.edge != StepGraph::kNone) return std::max<std::int64_t>(0, times.edge_lag_ns[piece.edge]);
  return std::max<std::int64_t>(0, times.gap_ns[piece.node - graph.first_device]);
}

std::int64_t shorter(std::int64_t ns) { return ns <= 0 ? ns : std::lround(static_cast<double>(ns) * (1 - kNearShare)); }

}  // namespace

std::string_view name_of(PathSort sort) { return kSortNames[static_cast<std::size_t>(sort)]; }

std::vector<PathPiece> critical_path(const StepGraph& graph, const StepTimes& times, const Replayed& replayed,
                                     const IntervalSet& spans) {
  return Walk(graph, times, replayed, spans).back();
}

std::vector<NearPath> near_paths(const WhatIf& what_if, const StepCourse& course, const std::vector<PathPiece>& path) {
  const StepGraph& graph = what_if.graph();
  const StepTimes times = what_if.base();
  std::vector<NearPath> found;
  std::unordered_set<std::uint64_t> known;  // pieces of the paths so far
  const auto key = [](const PathPiece& piece) { return std::uint64_t{piece.node} * 2 + (piece.pause ? 1 : 0); };
  StepTimes shortened = times;
  const std::vector<PathPiece>* last = &path;
  for (int i = 0; i < kMostNearPaths; ++i) {
    for (const PathPiece& piece : *last) {
      if (piece.node == StepGraph::kNone || !known.insert(key(piece)).second) continue;
      if (!piece.pause) {
        shortened.duration_ns[piece.node] = shorter(times.duration_ns[piece.node]);
      } else if (piece.edge != StepGraph::kNone) {
        shortened.edge_lag_ns[piece.edge] = shorter(times.edge_lag_ns[piece.edge]);
      } else {
        std::int64_t& gap = shortened.gap_ns[piece.node - graph.first_device];
        gap = shorter(gap);
      }
    }
    const StepCourse now_course = what_if.course(shortened, course.goes_on);
    NearPath near{.pieces = critical_path(graph, shortened, now_course.replayed, now_course.spans)};
    for (PathPiece& piece : near.pieces) {
      // A piece cut by the spans counts as far as it lies in them.
      const std::int64_t own = own_length(graph, times, piece), now = own_length(graph, shortened, piece);
      const std::int64_t part =
          now > 0 ? std::lround(static_cast<double>(piece.time.length()) * static_cast<double>(own) / static_cast<double>(now))
                  : piece.time.length();
      piece.time.end_ns = piece.time.start_ns + part;
      near.length_ns += part;
      if (known.contains(key(piece))) near.shared_ns += part;
    }
    // While a program goes on, a chain may end elsewhere than the one before began: no step is made of it.
    if (near.length_ns > course.spans.length()) break;
    if (static_cast<double>(near.shared_ns) >= kMostlyShared * static_cast<double>(near.length_ns)) break;
    found.push_back(std::move(near));
    last = &found.back().pieces;
  }
  return found;
}

}  // namespace ridge
