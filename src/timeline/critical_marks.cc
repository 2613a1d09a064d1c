// From the path's pieces, latest first, to stretches of a lane.
#include "timeline/critical_marks.h"

#include <utility>

#include "predict/critical_path.h"
#include "predict/what_if.h"

namespace ridge {

std::vector<Mark> critical_marks(std::shared_ptr<const CostModel> costs) {
  const Model& model = costs->model();
  const Scope scope(model, std::move(costs));
  const WhatIf what_if(scope, WhatIf::From::recorded);
  std::vector<Mark> marks;
  if (!what_if.why_not().empty()) return marks;
  const StepGraph& graph = what_if.graph();
  const std::span<const EventId> work = model.trace().of(EventClass::device_work);
  const StepLane* last = nullptr;
  const Replayed recorded = replay(graph);
  for (const PathPiece& piece : critical_path(graph, what_if.base(), recorded, what_if.length().spans(recorded))) {
    if (piece.node == StepGraph::kNone) continue;
    const StepLane& lane = graph.lane_of(piece.node);
    const std::int64_t start = piece.time.start_ns - scope.origin_ns();
    if (&lane == last && marks.back().start_ns == start + piece.time.length()) {
      marks.back().start_ns = start;
      marks.back().dur_ns += piece.time.length();
      continue;
    }
    const TrackId track =
        lane.device ? model.trace().track(work[graph.source[piece.node]]) : model.tree().threads[lane.thread].track;
    marks.push_back({.kind = "critical",
                     .start_ns = start,
                     .dur_ns = piece.time.length(),
                     .track = track.value,
                     .id = {},
                     .label = "critical path"});
    last = &lane;
  }
  return marks;
}

}  // namespace ridge
