// StepLength: how long an iteration of a scope takes in a replay, by the rules of facts/iteration_time.h: from when the host
// begins it and the device is done with those before, to its end on both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interval_set.h"
#include "facts/iteration_time.h"
#include "facts/scope.h"
#include "predict/replay.h"
#include "predict/steady_step.h"
#include "predict/step_graph.h"

namespace ridge {

class StepLength {
 public:
  // `recorded`: the replay as recorded.
  StepLength(const Scope& scope, const StepGraph& graph, const Replayed& recorded);

  // Why there is no step to speak of; empty when there is one.
  const std::string& why_not() const { return why_not_; }

  std::int64_t iterations() const { return recorded_.divisor(); }
  IterationRule rule() const { return recorded_.rule; }
  std::int64_t recorded_ns() const { return recorded_.mean_ns(); }  // as all other tables have it
  std::int64_t step_ns(const Replayed& replayed) const { return recorded_.per_iteration(spans(replayed).length()); }
  std::int64_t host_ns() const;  // what the host alone took, as recorded
  // The time that the iterations of the scope take.
  IntervalSet spans(const Replayed& replayed) const;
  // For the same iterations when they go on and on; nothing of what comes before the first or behind the last.
  SteadyStep steady() const;
  // The device had a queue to work off when the first of them began: what it is behind by then is no time of the iterations.
  bool begins_behind() const { return begins_behind_; }
  std::int64_t per_iteration(std::int64_t total_ns) const { return recorded_.per_iteration(total_ns); }

 private:
  // A time of the recording, tied to a node so that it moves with it.
  struct Instant {
    std::uint32_t node = StepGraph::kNone;
    std::int64_t offset_ns = 0;
  };
  struct Part {
    Instant start, end;  // on the host
    bool counts = false;
    bool has_work = false;
  };

  Instant instant_at(std::int64_t time_ns) const { return instant_at(*lane_, time_ns); }
  Instant instant_at(const StepLane& lane, std::int64_t time_ns) const;
  std::int64_t time_of(const Instant& instant, const Replayed& replayed) const;
  IntervalSet iteration_spans(const Replayed& replayed) const;
  void find_parts(const Scope& scope);
  void add_waited_for(std::vector<bool>* inside) const;
  void find_first_launch(const Scope& scope);

  const StepGraph& graph_;
  IterationTime recorded_;
  std::string why_not_;
  const StepLane* lane_ = nullptr;                    // that iterations are marked on
  std::vector<Part> parts_;                           // by iteration
  std::vector<std::uint32_t> part_of_;                // by node from first_device; kNone of none; kInherited
  bool cut_ = false;                                  // the window was cut into the iterations
  bool host_was_ahead_ = false;                       // of the device, when the first iteration was recorded
  bool begins_behind_ = false;                        // work was queued when the first one that counts began
  Instant first_launch_;                              // of the first iteration
  std::vector<std::pair<Instant, Instant>> held_up_;  // what counts besides: see iteration_time.h
};

}  // namespace ridge
