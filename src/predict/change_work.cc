// Device work by its name: other durations, or one piece of work for several.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/time_limits.h"
#include "base/units.h"
#include "predict/change_functions.h"
#include "predict/matching.h"

namespace ridge {
namespace {

// The program's device work by name or readable form; counts what is the compiler's.
class WorkMatch {
 public:
  WorkMatch(const ChangeContext& context, const Change& change)
      : model_(context.scope.model()),
        compilers_(model_.compiler_work()),
        work_(model_.trace().of(EventClass::device_work)),
        names_(model_.trace(), change) {
    for (const KernelIdentity& identity : model_.identities().identities) labels_.push_back(names_.matches(identity.label));
  }

  bool operator()(std::uint32_t row) {
    if (!labels_[model_.identities().of_row[row]] && !names_(model_.trace().events.name(work_[row]))) return false;
    const bool compilers = compilers_.holds_work(row);
    left_ += compilers ? 1 : 0;
    return !compilers;
  }
  std::int64_t left() const { return left_; }

 private:
  const Model& model_;
  const CompilerWork& compilers_;
  std::span<const EventId> work_;
  NameMatch names_;
  std::vector<bool> labels_;  // by identity
  std::int64_t left_ = 0;
};

// By the time of its launch; of work without one by its own.
std::size_t iterations_begun(const ChangeContext& context, std::uint32_t row) {
  const Model& model = context.scope.model();
  const NodeId launch = model.links().launch[row];
  const bool recorded = launch != kNoNode && launch.value < model.tree().recorded;
  const std::int64_t time = recorded
                                ? model.tree().start_ns[launch.value]
                                : context.scope.trace().events.ts_ns(context.scope.trace().of(EventClass::device_work)[row]);
  const std::vector<Iteration>& list = model.iterations().list;
  const auto after = std::upper_bound(list.begin(), list.end(), time,
                                      [](std::int64_t t, const Iteration& iteration) { return t < iteration.start_ns; });
  return static_cast<std::size_t>(after - list.begin());
}

}  // namespace

TimeByWork::TimeByWork(const Change& change, const ChangeContext& context)
    : costs_(context.scope.costs()),
      expected_(change.time.to == TimeChange::To::expected ? std::make_unique<const ExpectedTimes>(costs_) : nullptr) {}

std::optional<std::int64_t> TimeByWork::ns(std::uint32_t row) const {
  const std::optional<double> time = expected_ ? expected_->ns(row) : costs_.roof(row).roof_ns;
  const bool known = time && *time <= static_cast<double>(kLongestDurationNs);  // else of shapes that no tensor has
  return known ? std::optional<std::int64_t>(std::llround(*time)) : std::nullopt;
}

ChangeEffect change_kernels(const Change& change, const ChangeContext& context, StepTimes* times) {
  const StepGraph& graph = context.graph;
  WorkMatch matches(context, change);
  ChangeEffect effect;
  std::int64_t without_roof = 0, measured = 0;
  const TimeByWork by_work(change, context);
  for (std::uint32_t node = graph.first_device; node < graph.size(); ++node) {
    if (!matches(graph.source[node])) continue;
    ++effect.matches;
    std::int64_t& duration = times->duration_ns[node];
    if (!change.time.by_work()) {
      duration = change.time.of(duration);
    } else if (const auto time = by_work.ns(graph.source[node])) {
      duration = std::min(duration, *time);
      measured += by_work.is_measured(graph.source[node]) ? 1 : 0;
    } else {
      ++without_roof;
    }
  }
  const bool roof = change.time.by_work();
  effect.uncertain = roof && measured < effect.matches ? 0.5 : 0.05;
  effect.basis =
      fmt::format("{} of device work changed", effect.matches == 1 ? "1 piece" : fmt::format("{} pieces", effect.matches));
  if (change.time.to == TimeChange::To::roof) effect.basis += "; the roof is a bound that little work reaches";
  if (measured > 0) effect.basis += fmt::format("; {} of them by what was measured of them alone (--table)", measured);
  if (without_roof > 0) effect.basis += fmt::format("; no {} is known of {}", by_work.name(), without_roof);
  effect.unknown = roof && effect.matches > 0 && without_roof == effect.matches;
  effect.compilers = matches.left();
  return effect;
}

ChangeEffect fuse_kernels(const Change& change, const ChangeContext& context, StepTimes* times) {
  const StepGraph& graph = context.graph;
  WorkMatch matches(context, change);
  ChangeEffect effect;
  std::int64_t fused = 0;
  for (const StepLane& lane : graph.lanes) {
    if (!lane.device) continue;
    std::uint32_t first = StepGraph::kNone;  // of the run that goes on
    std::size_t step = 0;                    // iterations that had begun when it was launched
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (graph.kind[node] != StepKind::kernel || !matches(graph.source[node])) {
        first = StepGraph::kNone;
        continue;
      }
      ++effect.matches;
      // What one iteration launches does not go into a kernel of the next.
      const std::size_t its = iterations_begun(context, graph.source[node]);
      if (first == StepGraph::kNone || its != step) {
        first = node;
        step = its;
        continue;
      }
      ++fused;
      times->duration_ns[first] = std::max(times->duration_ns[first], times->duration_ns[node]);
      times->duration_ns[node] = 0;
      times->gap_ns[node - graph.first_device] = 0;
      // What the host did for it: from the launch before to this one's end.
      for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e) {
        const std::uint32_t launch = graph.edge_from[e];
        if (graph.kind[launch] != StepKind::launch) continue;
        times->edge_lag_ns[e] = kNoWait;
        const std::uint32_t begin = graph.begin_of_call(launch);
        times->duration_ns[launch] = times->duration_ns[begin] = 0;
        if (!graph.leads[begin] && graph.kind[begin - 1] == StepKind::host) times->duration_ns[begin - 1] = 0;
      }
    }
  }
  effect.uncertain = 0.3;
  effect.compilers = matches.left();
  effect.basis = fmt::format(
      "{} launches less; a fused kernel takes what its longest takes, and less where inputs are read once for several", fused);
  return effect;
}

}  // namespace ridge
