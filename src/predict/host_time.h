// Stretches of a thread's time, spread over the nodes of its lane: what is inside an op is part of several nodes, and a node
// part of several ops.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "predict/replay.h"
#include "predict/step_graph.h"

namespace ridge {

class HostTime {
 public:
  HostTime(const StepGraph& graph, StepTimes* times);

  // The lane of a thread (an index into tree.threads); nullptr when it has none.
  const StepLane* lane_of(std::uint32_t thread) const;

  // So much of what the thread did by itself in that time is gone: its share of every node that it is part of. Waits stay.
  // Stretches of a thread must not overlap each other.
  void shrink(const StepLane& lane, Interval time, double share);
  // The same by an amount, or all of it where there is less.
  void shrink_by(const StepLane& lane, Interval time, std::int64_t less_ns);
  // So much more work from that time on.
  void add(const StepLane& lane, std::int64_t time_ns, std::int64_t more_ns);

  void apply();  // what shrink() gathered

 private:
  template <class F>
  void for_each_part(const StepLane& lane, Interval time, F f) const;  // f(node, its share that lies in the time)

  const StepGraph& graph_;
  StepTimes& times_;
  std::vector<std::uint32_t> lane_of_;  // by thread; kNone
  std::vector<float> removed_;          // by host node: the share of it that is gone
};

}  // namespace ridge
