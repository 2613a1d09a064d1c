// WhatIf: the step of a scope as recorded, as it would be without the recorder, and with changes. What `whatif`, `critical`,
// findings and the page ask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facts/scope.h"
#include "predict/changes.h"
#include "predict/device_floor.h"
#include "predict/removal.h"
#include "predict/replay.h"
#include "predict/step_graph.h"
#include "predict/step_length.h"

namespace ridge {

// The step with changes, against that without the recorder.
struct Outcome {
  std::optional<std::int64_t> step_ns;  // nothing where the trace does not tell
  std::optional<double> low_pct, high_pct;
  std::string basis;
  std::int64_t matches = 0;
};

struct StepCourse {
  Replayed replayed;
  IntervalSet spans;
  bool goes_on = false;  // as the program goes on (steady_step.h); else as it was recorded
};

class WhatIf {
 public:
  enum class From : std::uint8_t { without_profiler, recorded };  // what changes start from, and savings are of
  // `measured_ns`: the step as somebody measured it without the profiler; what recording cost is then fitted to it.
  explicit WhatIf(const Scope& scope, From from = From::without_profiler, std::optional<std::int64_t> measured_ns = {});

  const StepGraph& graph() const { return graph_; }
  const StepLength& length() const { return *length_; }
  // Why there is no step to replay; empty when there is one.
  const std::string& why_not() const { return length_->why_not(); }

  std::int64_t recorded_ns() const { return length_->recorded_ns(); }
  std::int64_t replayed_ns() const { return replayed_ns_; }
  // Of what the replay rests on: edges that were recorded, inferred, contradicted.
  std::string replay_basis() const;

  // Without what the recorder added to the host, while the program goes on (steady_step.h).
  std::int64_t without_profiler_ns() const { return without_profiler_ns_; }
  std::optional<std::int64_t> measured_ns() const { return measured_ns_; }
  // Of it, per iteration, what the host is thought to wait for workers of a data loader, which the recording hides; a guess.
  std::int64_t hidden_fetch_ns() const { return hidden_fetch_ns_; }
  // How far off that may be, as a logarithm: in 19 of 20 cases no more than this.
  double recorder_doubt() const;
  // That holds the truth in 80 % of cases.
  std::int64_t without_profiler_low_ns() const;
  std::int64_t without_profiler_high_ns() const;
  // What the truth is hardly outside of.
  std::int64_t without_profiler_least_ns() const;
  std::int64_t without_profiler_most_ns() const;
  // The step that changes start from.
  std::int64_t base_ns() const { return base_ns_; }
  StepTimes base() const;  // made anew: a replay changes a copy of it anyway

  // How the step that savings are of goes with these times, and which time is the iterations': as recorded, or without the
  // recorder while the program goes on.
  StepCourse course(const StepTimes& times) const;
  StepCourse course(const StepTimes& times, bool goes_on) const;  // seen in this way
  // What recording is taken to have cost, against what it is thought to: 1 unless a measured step says otherwise.
  double recorder_times() const { return recorder_times_; }

  // All of these together.
  Outcome outcome(std::span<const Change> changes) const { return outcome(changes, {}, {}); }
  // And of this being gone, first.
  struct Terms {
    double uncertain = 0;  // the share of what it saves that may be missing, or come on top
    double spreads = 1;    // what is left of the step, to this power: what goes with it that the trace does not tie to it
  };
  Outcome outcome(std::span<const Change> changes, std::span<const Removal* const> removals, const Terms& terms) const;

 private:
  double fitted_to(std::int64_t step_ns) const;
  StepTimes unrecorded() const;
  void keep_to_the_recorded();
  void add_hidden_fetches();
  std::int64_t without_profiler_at_ns(double doubts) const;
  std::int64_t settled_ns(const StepTimes& times) const;
  bool steady_holds() const;

  const Scope& scope_;
  StepGraph graph_;
  std::unique_ptr<StepLength> length_;
  std::unique_ptr<SteadyStep> steady_;
  bool goes_on_ = false;  // the steady step may be asked
  std::unique_ptr<DeviceFloor> floor_;
  std::optional<std::int64_t> measured_ns_;
  double recorder_times_ = 1;
  From from_;
  std::int64_t replayed_ns_ = 0;
  std::int64_t without_profiler_ns_ = 0;
  std::vector<std::uint32_t> fetches_;  // worker_fetches()
  std::int64_t each_fetch_ns_ = 0;      // longer than recorded
  std::int64_t hidden_fetch_ns_ = 0;
  std::int64_t base_ns_ = 0;
  std::int64_t base_settled_ns_ = 0;
};

}  // namespace ridge
