// Replays, and the interval around what a change saves.
#include "predict/what_if.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "predict/recorder_share.h"

namespace ridge {
namespace {

constexpr double kReplayErrorPct = 1;  // of the step, whatever changes

StepGraph graph_with_recorder(const Model& model) {
  StepGraph graph = build_step_graph(model);
  add_recorder_share(model, &graph);
  return graph;
}

StepTimes without_recorder(const StepGraph& graph) {
  StepTimes times(graph);
  for (std::size_t node = 0; node < graph.recorder_ns.size(); ++node) times.duration_ns[node] -= graph.recorder_ns[node];
  return times;
}

}  // namespace

WhatIf::WhatIf(const Scope& scope, From from)
    : scope_(scope),
      graph_(graph_with_recorder(scope.model())),
      recorded_(replay(graph_)),
      length_(std::make_unique<StepLength>(scope, graph_, recorded_)),
      base_(without_recorder(graph_)) {
  if (!length_->why_not().empty()) return;
  steady_ = std::make_unique<SteadyStep>(length_->steady());
  base_ns_ = base_settled_ns_ = without_profiler_ns_ = settled_ns(base_);
  if (from == From::without_profiler) return;
  base_ = StepTimes(graph_);
  base_ns_ = replayed_ns();
  base_settled_ns_ = settled_ns(base_);
}

// A recording that begins with an empty queue shows the first step longer than those that follow. What lies between two marked
// iterations is no part of them, but of a program that goes on.
std::int64_t WhatIf::settled_ns(const StepTimes& times) const {
  const std::int64_t shown = length_->step_ns(replay(graph_, times)), steady = steady_->step_ns(times);
  return steady > 0 ? std::min(shown, steady) : shown;
}

std::string WhatIf::replay_basis() const {
  const StepEvidence& seen = graph_.evidence;
  std::string text = fmt::format("{} iterations by {}", length_->iterations(), name_of(length_->rule()));
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(seen.host_waits, "waits of the host");
  add(seen.unexplained_waits, "waits for what the trace does not tell");
  add(seen.recorded_stream_waits, "recorded waits between streams");
  add(seen.inferred_stream_waits, "waits between streams inferred from the order of work");
  add(seen.thread_handovers, "handovers between threads");
  add(seen.inferred_wakes, "wakes of threads by the main one, inferred");
  add(seen.unlinked_work, "pieces of work without a launch");
  add(seen.contradictions, "contradictions between clocks");
  return text;
}

Outcome WhatIf::outcome(std::span<const Change> changes) const {
  Outcome out;
  StepTimes times = base_;
  double kept = 1;  // share of what they save that is certain
  for (const Change& change : changes) {
    const ChangeEffect effect = change.kind->apply(change, {scope_, graph_}, &times);
    out.matches += effect.matches;
    out.basis += (out.basis.empty() ? "" : "; ") + (effect.matches == 0 && !effect.unknown ? "nothing matches" : effect.basis);
    if (effect.unknown) return out;
    if (effect.matches > 0) kept = std::min(kept, 1 - effect.uncertain);
  }
  out.step_ns = std::max<std::int64_t>(0, base_ns_ + settled_ns(times) - base_settled_ns_);
  const double saves =
      100 * static_cast<double>(base_ns_ - *out.step_ns) / static_cast<double>(std::max<std::int64_t>(1, base_ns_));
  const double around = std::abs(saves) * (1 - kept) + (out.matches > 0 ? kReplayErrorPct : 0);
  out.low_pct = saves - around;
  out.high_pct = std::min(100.0, saves + around);
  return out;
}

}  // namespace ridge
