// Replays, and the interval around what a change saves.
#include "predict/what_if.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "predict/recorder_share.h"
#include "predict/worker_fetches.h"

namespace ridge {
namespace {

// Of the step, whatever changes: planted changes came out so near in four of five cases on hosts that were steady (18 of them;
// docs/accuracy.md), and so did small savings.
constexpr double kReplayErrorPct = 2.5;
// How far the step without the recorder may be off: this, and a part of what was taken off (both logarithms). Of a device's API
// that nothing was calibrated on, more. Of 236 recordings of programs that no price was read from 96 % were no farther off, and
// 84 % no farther than the usual part of it, which was chosen by them.
constexpr double kUsualDoubt = 0.7;
constexpr double kLeastDoubt = 0.08, kDoubtOfTaken = 0.32, kDoubtElsewhere = 0.3;

StepGraph graph_with_recorder(const Model& model) {
  StepGraph graph = build_step_graph(model);
  add_recorder_share(model, &graph);
  return graph;
}

// Without `times` what the recorder is thought to have cost; a twentieth of a node always stays.
StepTimes without_recorder(const StepGraph& graph, double times) {
  StepTimes out(graph);
  for (std::size_t node = 0; node < graph.recorder_ns.size(); ++node) {
    const std::int64_t cost = std::llround(times * static_cast<double>(graph.recorder_ns[node]));
    const std::int64_t most = out.duration_ns[node] - out.duration_ns[node] / 20;
    out.duration_ns[node] -= std::min(cost, std::max(most, graph.recorder_ns[node]));
  }
  return out;
}

// Of what the recorder cost the host, the part in which it would wait for workers of a data loader when nobody records: between
// none, where they are fast, and all, where they are no faster than the recorded step. Of seven programs that were short of
// workers 0.1 to 1 was true.
constexpr double kHiddenFetch = 0.4;

// Both doubts at once are rare, and what is told of most causes is nearer than each for itself would allow: with half of their
// sum 89 % of the savings lay inside that the last rules were made by, and 79 % of harder ones.
constexpr double kOfDoubts = 0.5;

// How uncertain a saving is, of what is uncertain of it: where most of a step goes, what is left of it is uncertain instead.
double spread(double share) { return share <= 0.5 ? std::abs(share) : 2 * share * (1 - share); }

std::string basis_of(const ChangeEffect& effect) {
  if (effect.unknown) return effect.basis;
  if (effect.compilers == 0) return effect.matches == 0 ? "nothing matches" : effect.basis;
  return fmt::format("{}; {} more, of autotuning or compilation, left alone",
                     effect.matches == 0 ? "nothing of the program matches" : effect.basis, effect.compilers);
}

// Of what is expected to be left of a step: mended programs had 0.61 of it and more (137 us of 224, of fused pointwise ops).
constexpr double kLeastLeft = 1.0 / 3;

// No further than to `least_ns`, what the device needs.
std::int64_t spread_further(double power, std::int64_t base_ns, std::int64_t least_ns, std::int64_t step_ns) {
  if (power == 1 || step_ns >= base_ns || base_ns <= 0) return step_ns;
  const double left = static_cast<double>(step_ns) / static_cast<double>(base_ns);
  const std::int64_t further = std::llround(std::pow(left, power) * static_cast<double>(base_ns));
  return std::max(further, std::min(step_ns, least_ns));
}
constexpr double kAllOfIt = 1e6;   // for DeviceFloor: work that a change makes shorter may go altogether
constexpr double kAlike = 1.02;    // two lengths of one step
constexpr double kMostTimes = 16;  // what the recorder cost, against the estimate
constexpr int kHalvings = 24;

}  // namespace

WhatIf::WhatIf(const Scope& scope, From from, std::optional<std::int64_t> measured_ns)
    : scope_(scope), graph_(graph_with_recorder(scope.model())), measured_ns_(measured_ns), from_(from) {
  {
    const Replayed recorded = replay(graph_);  // as much memory as the next one takes
    length_ = std::make_unique<StepLength>(scope, graph_, recorded);
    if (!length_->why_not().empty()) return;
    replayed_ns_ = length_->step_ns(recorded);
    steady_ = std::make_unique<SteadyStep>(length_->steady());
    floor_ = std::make_unique<DeviceFloor>(graph_, steady_->inside(), recorded, length_->iterations());
  }
  goes_on_ = steady_holds();
  if (measured_ns_) recorder_times_ = fitted_to(*measured_ns_);
  without_profiler_ns_ = settled_ns(without_recorder(graph_, recorder_times_));
  keep_to_the_recorded();
  if (!measured_ns_) add_hidden_fetches();
  const bool as_recorded = from == From::recorded;
  base_settled_ns_ = as_recorded ? settled_ns(StepTimes(graph_)) : without_profiler_ns_;
  base_ns_ = as_recorded ? replayed_ns_ : without_profiler_ns_;
}

// No program is faster for being recorded. Where it seems so, something else holds it up: going on, what was not there when it
// was recorded; or other ranks, whose work comes when it came, so that who begins sooner waits for longer.
void WhatIf::keep_to_the_recorded() {
  const auto is_longer = [&] { return static_cast<double>(without_profiler_ns_) > kAlike * static_cast<double>(replayed_ns_); };
  if (measured_ns_ || !is_longer()) return;
  if (std::exchange(goes_on_, false)) without_profiler_ns_ = settled_ns(without_recorder(graph_, recorder_times_));
  if (!is_longer()) return;
  recorder_times_ = 0;
  without_profiler_ns_ = replayed_ns_;
}

void WhatIf::add_hidden_fetches() {
  fetches_ = worker_fetches(scope_.model(), graph_);
  const std::int64_t cost = replayed_ns_ - without_profiler_ns_, before = without_profiler_ns_;
  if (fetches_.empty() || cost <= 0) return;
  const std::int64_t all = std::max<std::int64_t>(1, scope_.model().iterations().count());  // those that nobody asks for, too
  const double fetches = std::max(1.0, static_cast<double>(fetches_.size()) / static_cast<double>(all));
  each_fetch_ns_ = std::llround(kHiddenFetch * static_cast<double>(cost) / fetches);
  without_profiler_ns_ = settled_ns(unrecorded());
  hidden_fetch_ns_ = std::max<std::int64_t>(0, without_profiler_ns_ - before);
}

StepTimes WhatIf::unrecorded() const {
  StepTimes out = without_recorder(graph_, recorder_times_);
  for (const std::uint32_t node : fetches_) out.duration_ns[node] += each_fetch_ns_;
  return out;
}

StepTimes WhatIf::base() const { return from_ == From::recorded ? StepTimes(graph_) : unrecorded(); }

// The more is taken off, the shorter the step: halved until it fits.
double WhatIf::fitted_to(std::int64_t step_ns) const {
  double low = 0, high = kMostTimes;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (settled_ns(without_recorder(graph_, middle)) > step_ns ? low : high) = middle;
  }
  return high;
}

// Going on, the recorded steps take no longer than they were recorded to, on the host or on both. Else what they waited for
// lies outside of the scope: a thread that is woken by another rank does not wait anew behind the first time.
bool WhatIf::steady_holds() const {
  if (length_->rule() == IterationRule::whole_window) return false;  // nothing tells that it goes on
  const double most = kAlike * static_cast<double>(std::max(replayed_ns_, length_->host_ns()));
  return static_cast<double>(steady_->step_ns(StepTimes(graph_))) <= most;
}

// A recording that begins with an empty queue shows the first step longer than those that follow. What lies between two marked
// iterations is no part of them, but of a program that goes on. One that begins with a full queue shows its steps shorter: a
// device that becomes faster works off what the host was ahead by, once, and waits for the host from there on.
std::int64_t WhatIf::settled_ns(const StepTimes& times) const {
  const std::int64_t shown = length_->step_ns(replay(graph_, times));
  if (!goes_on_) return shown;
  const std::int64_t steady = steady_->step_ns(times);
  if (steady <= 0) return shown;
  return length_->begins_behind() ? steady : std::min(shown, steady);
}

StepCourse WhatIf::course(const StepTimes& times, bool goes_on) const {
  if (goes_on) {
    SteadyStep::Second steady = steady_->second(times);
    return {std::move(steady.replayed), IntervalSet({steady.span}), true};
  }
  StepCourse shown{.replayed = replay(graph_, times), .spans = {}};
  shown.spans = length_->spans(shown.replayed);
  return shown;
}

StepCourse WhatIf::course(const StepTimes& times) const {
  StepCourse shown = course(times, false);
  if (from_ == From::recorded || !goes_on_) return shown;
  StepCourse steady = course(times, true);
  const std::int64_t step = length_->per_iteration(steady.spans.length());
  if (step <= 0) return shown;
  if (!length_->begins_behind() && step >= length_->per_iteration(shown.spans.length())) return shown;
  return steady;
}

std::string WhatIf::replay_basis() const {
  const StepEvidence& seen = graph_.evidence;
  std::string text = fmt::format("{} {} by {}", length_->iterations(), length_->iterations() == 1 ? "iteration" : "iterations",
                                 name_of(length_->rule()));
  const auto add = [&](std::int64_t count, std::string_view one, std::string_view several) {
    if (count > 0) text += fmt::format("; {} {}", count, count == 1 ? one : several);
  };
  add(seen.host_waits, "wait of the host", "waits of the host");
  add(seen.unexplained_waits, "wait for what the trace does not tell", "waits for what the trace does not tell");
  add(seen.recorded_stream_waits, "recorded wait between streams", "recorded waits between streams");
  add(seen.inferred_stream_waits, "wait between streams inferred from the order of work",
      "waits between streams inferred from the order of work");
  add(seen.thread_handovers, "handover between threads", "handovers between threads");
  add(seen.inferred_wakes, "wake of a thread by the main one, inferred", "wakes of threads by the main one, inferred");
  add(seen.unlinked_work, "piece of work without a launch", "pieces of work without a launch");
  add(seen.contradictions, "contradiction between clocks", "contradictions between clocks");
  return text;
}

double WhatIf::recorder_doubt() const {
  if (without_profiler_ns_ <= 0) return 0;
  if (measured_ns_) return kLeastDoubt / 2;
  const double taken = std::log(std::max(1.0, static_cast<double>(replayed_ns()) / static_cast<double>(without_profiler_ns_)));
  const double doubt = kLeastDoubt + kDoubtOfTaken * taken;
  return scope_.model().recorder_costs().calibrated ? doubt : doubt + taken * kDoubtElsewhere;
}
std::int64_t WhatIf::without_profiler_at_ns(double doubts) const {
  return std::llround(static_cast<double>(without_profiler_ns_) * std::exp(doubts * recorder_doubt()));
}
// And none of what is thought to be waiting for workers may be, or all that may.
std::int64_t WhatIf::without_profiler_low_ns() const {
  return without_profiler_at_ns(-kUsualDoubt) - std::llround(kUsualDoubt * static_cast<double>(hidden_fetch_ns_));
}
std::int64_t WhatIf::without_profiler_high_ns() const {
  constexpr double kMore = (1 - kHiddenFetch) / kHiddenFetch;
  return without_profiler_at_ns(kUsualDoubt) + std::llround(kUsualDoubt * kMore * static_cast<double>(hidden_fetch_ns_));
}
std::int64_t WhatIf::without_profiler_least_ns() const { return without_profiler_at_ns(-1); }
std::int64_t WhatIf::without_profiler_most_ns() const { return without_profiler_at_ns(1); }

Outcome WhatIf::outcome(std::span<const Change> changes, std::span<const Removal* const> removals, const Terms& terms) const {
  Outcome out;
  StepTimes times = base();
  const std::int64_t needed_before = floor_->least_ns(times);
  double kept = 1 - terms.uncertain;  // share of what they save that is certain
  remove_time(removals, {scope_, graph_}, &times);
  out.matches += std::ranges::count_if(removals, [](const Removal* removal) { return !removal->empty(); });
  for (const Change& change : changes) {
    const ChangeEffect effect = change.kind->apply(change, {scope_, graph_}, &times);
    out.matches += effect.matches;
    out.basis += (out.basis.empty() ? "" : "; ") + basis_of(effect);
    if (effect.unknown) return out;
    if (effect.matches > 0) kept = std::min(kept, 1 - effect.uncertain);
  }
  out.step_ns = std::max<std::int64_t>(0, base_ns_ + settled_ns(times) - base_settled_ns_);
  const bool needs_less = floor_->least_ns(times, kAllOfIt) < needed_before;
  out.step_ns = spread_further(terms.spreads, base_ns_, needs_less ? 0 : needed_before, *out.step_ns);
  // What the device needs more is on top of a step that was told shorter than what it needs.
  const std::int64_t needs = floor_->least_ns(times);
  if (const std::int64_t least = std::min(needs, base_ns_ + std::max<std::int64_t>(0, needs - needed_before));
      *out.step_ns < least) {
    out.step_ns = least;
    out.basis += (out.basis.empty() ? "" : "; ") + std::string("the device's own work takes the rest");
  }
  const double share = static_cast<double>(base_ns_ - *out.step_ns) / static_cast<double>(std::max<std::int64_t>(1, base_ns_));
  // A step whose length is known to a factor and one that is left at a known length differ by an unknown share.
  const double of_base = base_ns_ == replayed_ns() ? 0 : 2 * recorder_doubt() * std::max(0.0, share * (1 - share));
  const double around = 100 * kOfDoubts * (spread(share) * (1 - kept) + of_base) + (out.matches > 0 ? kReplayErrorPct : 0);
  out.low_pct = 100 * share - around;
  // What the device needs stays where its work does: who fuses some kernels may come to fuse more. Of the step that is left
  // some stays in any case. Both are the less of a step, the longer it is.
  const double needed = needs_less ? 0 : static_cast<double>(needed_before);
  const double stays = std::max(needed, kLeastLeft * static_cast<double>(*out.step_ns));
  const double longest =
      static_cast<double>(std::max<std::int64_t>(1, base_ns_)) * std::exp(base_ns_ == replayed_ns() ? 0 : recorder_doubt());
  const double most = std::max(100 * share, 100 - 100 * std::min(1.0, stays / longest));
  out.high_pct = std::min(most, 100 * share + around);
  return out;
}

}  // namespace ridge
