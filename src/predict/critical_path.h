// The critical path of a replayed step: from its end back to its start, at each point what was waited for last. Its pieces
// follow each other without gap or overlap, so that they add up to the step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "predict/replay.h"
#include "predict/step_graph.h"
#include "predict/what_if.h"

namespace ridge {

enum class PathSort : std::uint8_t {
  host,    // a thread's own work
  launch,  // a call that launches, and from there to the start of the work
  kernel,
  copy,  // and sets
  comm,
  sync,  // the host waits, beyond the work that it waits for
  wait,  // a pause between two pieces of work, of a stream or of a thread
};
inline constexpr std::size_t kPathSorts = static_cast<std::size_t>(PathSort::wait) + 1;
std::string_view name_of(PathSort sort);

struct PathPiece {
  Interval time = {};      // as replayed
  std::uint32_t node = 0;  // whose time it is; of a pause, the node that was held up; kNone: the trace does not tell
  PathSort sort = PathSort::host;
  bool pause = false;                     // what passed between two nodes
  std::uint32_t edge = StepGraph::kNone;  // of a pause: the edge that held the node up; kNone: its lane
};

// Of `spans`, the time of the iterations as StepLength has it; latest first.
std::vector<PathPiece> critical_path(const StepGraph& graph, const StepTimes& times, const Replayed& replayed,
                                     const IntervalSet& spans);

// Another chain of work that is nearly as long: what decides once the pieces of the path before take 5 % less. Shorter than the
// step by at most that.
struct NearPath {
  std::vector<PathPiece> pieces = {};  // as long as they are with the times as they are; they add up to `length_ns`
  std::int64_t length_ns = 0;
  std::int64_t shared_ns = 0;  // of it, on the critical path too
};
inline constexpr double kNearShare = 0.05;
// `path`: the critical path of `course`.
std::vector<NearPath> near_paths(const WhatIf& what_if, const StepCourse& course, const std::vector<PathPiece>& path);

}  // namespace ridge
