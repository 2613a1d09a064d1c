// SteadyStep: what a step takes while a program goes on and on. A recording begins with an empty queue, or with a full one; the
// iterations of a scope are replayed twice, the second time behind the first, and the time that the second adds counts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "predict/replay.h"
#include "predict/step_graph.h"

namespace ridge {

class SteadyStep {
 public:
  // `inside`: by node, what the iterations do; `host_start_ns`: when they begin.
  SteadyStep(const StepGraph& graph, std::vector<bool> inside, std::int64_t host_start_ns, std::int64_t iterations);

  const std::vector<bool>& inside() const { return inside_; }

  // Nothing inside: 0.
  std::int64_t step_ns(const StepTimes& times) const;
  // The second time: when each node starts and ends, and the time that it adds. Nodes outside stand where those inside around
  // them do. Nothing inside: an empty span.
  struct Second {
    Replayed replayed;
    Interval span = {};
  };
  Second second(const StepTimes& times) const;

 private:
  struct Round {
    BulkVector<std::int64_t> start_ns, end_ns;  // by node
    std::vector<std::int64_t> lane_end_ns;      // by lane, of the round before; kNever: none
    std::int64_t end_ns_of_all = 0;
  };
  void replay_once(const StepTimes& times, Round* round) const;
  std::int64_t twice(const StepTimes& times,
                     Round* round) const;  // when the first time ends; INT64_MIN where nothing is inside

  const StepGraph& graph_;
  std::vector<bool> inside_;
  std::int64_t host_start_ns_;
  std::int64_t iterations_;
};

}  // namespace ridge
