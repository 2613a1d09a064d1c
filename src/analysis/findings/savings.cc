// Claims as removals, and their replay.
#include "analysis/findings/savings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "base/units.h"
#include "facts/break_costs.h"
#include "model/idle.h"

namespace ridge {
namespace {

// Of what a remedy saves, the share that may be missing or come on top; rules whose remedies vary more say so themselves
// (Finding::doubt). By the recorded pairs that docs/accuracy.md calls read, three sets of 63 pairs under two sets of options:
// of 131 savings that are told with an interval, 124 lie inside. That is wider than four of five, since intervals hold less
// often on programs that nothing was read from: with widths at which nine of ten of the first two sets lay inside, 69 % of the
// third's did when it was new.
double doubt_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::high: return 0.2;
    case Confidence::medium: return 0.3;
    default: return 0.5;
  }
}

constexpr double kGone = 0.9;                     // claimed of a kernel's time: the kernel itself goes
constexpr std::int64_t kCallNs = 20'000;          // that calling an op from Python takes at most
constexpr std::uint32_t kLookedBack = 16;         // slices around a launch
constexpr std::int64_t kMostBetweenNs = 100'000;  // of two launches that go: longer is a pause of its own

class ClaimedTime {
 public:
  ClaimedTime(const Scope& scope, const Ledger& ledger)
      : scope_(scope), ledger_(ledger), launches_(scope.model().tree().size()) {
    for (const NodeId launch : scope.model().links().launch) {
      if (launch != kNoNode) launches_[launch.value] = true;
    }
  }

  // `share` of what each part is expected to bring, and what goes besides. Idle time that is only reached follows from that.
  Removal of(std::span<const ClaimPart> claim, double share, const Removal& besides) {
    out_ = besides;
    for (const Removal::Work& part : besides.work) {
      if (part.whole) add_launch(part.row, share);
    }
    for (const Removal::Call& call : besides.calls) {
      if (const NodeId launch = launch_of(call.row); is_recorded(launch))
        add_host(launch, time_to_launch(launch), call.share * share);
    }
    out_.calls.clear();
    for (const ClaimPart& part : claim) {
      const DeviceLedger& device = ledger_.devices()[part.device];
      if (part.idle && !part.reached) {
        add_idle(device.idle[part.slot], static_cast<double>(part.saved_ns) * share);
      } else if (!part.idle) {
        add_work(device.work[part.slot], part.saved_ns, share);
      }
    }
    add_between(share);
    out_.host = apart(std::move(out_.host));  // of a claim on all of a program there are as many as it launches kernels
    return std::move(out_);
  }

 private:
  NodeId launch_of(std::uint32_t row) const { return row == kNoWork ? kNoNode : scope_.model().links().launch[row]; }
  bool is_recorded(NodeId node) const { return node != kNoNode && node.value < scope_.model().tree().recorded; }

  void add_host(NodeId on, Interval time, double share) {
    if (!is_recorded(on)) return;
    out_.host.push_back({static_cast<std::uint32_t>(thread_of(scope_.model().tree(), on)), time, share});
  }

  void add_work(const WorkSlot& slot, std::int64_t ns, double share) {
    if (ns <= 0) return;
    out_.work.push_back({slot.work.row, static_cast<std::int64_t>(static_cast<double>(ns) * share)});
    const std::int64_t whole = slot.work.end_ns - slot.work.start_ns;
    if (static_cast<double>(ns) < kGone * static_cast<double>(whole)) return;
    add_launch(slot.work.row, share);
  }

  // Of work that goes wholly.
  void add_launch(std::uint32_t row, double share) {
    out_.gaps.push_back({row, INT64_MAX / 4});
    const NodeId launch = launch_of(row);
    if (!is_recorded(launch)) return;
    const Interval time = time_to_launch(launch);
    add_host(launch, time, share);
    gone_.emplace_back(launch, time);
  }

  // Between two launches that go, and no other between them, the program does nothing that stays: views, ops on the host, the
  // code around them.
  void add_between(double share) {
    const CallTree& tree = scope_.model().tree();
    std::ranges::sort(gone_, {}, [](const auto& each) { return each.first.value; });
    for (std::size_t i = 1; i < gone_.size(); ++i) {
      const auto& [before, its] = gone_[i - 1];
      const auto& [launch, time] = gone_[i];
      const std::int64_t length = time.start_ns - its.end_ns;
      if (length <= 0 || length > kMostBetweenNs || thread_of(tree, before) != thread_of(tree, launch)) continue;
      std::uint32_t n = before.value + 1;
      while (n < launch.value && !launches_[n]) ++n;
      if (n == launch.value) add_host(launch, {its.end_ns, time.start_ns}, share);
    }
  }

  // The host's time for one launch: from the end of what came before it, the call from Python with it, to the end of its op; of
  // an op that launches several, its share.
  Interval time_to_launch(NodeId launch) const {
    const CallTree& tree = scope_.model().tree();
    const NodeId op = outer_op(scope_.trace(), tree, launch);
    if (op == kNoNode) return time_of(launch);
    Interval time = time_of(op);
    const std::uint32_t first = tree.threads[thread_of(tree, launch)].first;
    std::int64_t before = time.start_ns - kCallNs;
    for (std::uint32_t n = op.value, steps = 0; n-- > first && steps < kLookedBack; ++steps) {
      if (tree.end_ns[n] <= time.start_ns && tree.event_class[n] != EventClass::python_frame)
        before = std::max(before, tree.end_ns[n]);
    }
    time.start_ns = before;
    for (std::uint32_t n = launch.value, steps = 0; n-- > op.value && steps < kLookedBack; ++steps) {
      if (tree.event_class[n] == EventClass::launch) time.start_ns = std::max(time.start_ns, tree.end_ns[n]);
    }
    for (std::uint32_t n = launch.value + 1, steps = 0; n < tree.recorded && steps < kLookedBack; ++n, ++steps) {
      if (tree.start_ns[n] >= time.end_ns) break;
      if (tree.event_class[n] == EventClass::launch && launches_[n]) {
        time.end_ns = tree.end_ns[launch.value];
        break;
      }
    }
    return time;
  }

  void add_idle(const IdleSlot& slot, double ns) {
    const IdlePiece& piece = slot.piece;
    const double share = ns / static_cast<double>(std::max<std::int64_t>(1, piece.length()));
    const NodeId launch = launch_of(slot.next_work);
    switch (piece.cause) {
      case IdleCause::dependency:
      case IdleCause::unknown: return;
      case IdleCause::kernel_gap: out_.gaps.push_back({slot.next_work, static_cast<std::int64_t>(ns)}); return;
      case IdleCause::sync:
      case IdleCause::copy_wait:
      case IdleCause::allocator:
        if (!is_recorded(piece.node)) return;
        out_.waits.push_back(piece.node);
        add_host(piece.node, time_of(piece.node), 1);
        return;
      default: add_host(is_recorded(launch) ? launch : piece.node, {piece.start_ns, piece.end_ns}, share);
    }
  }
  Interval time_of(NodeId node) const {
    const CallTree& tree = scope_.model().tree();
    return {tree.start_ns[node.value], tree.end_ns[node.value]};
  }

  const Scope& scope_;
  const Ledger& ledger_;
  std::vector<bool> launches_;                     // by tree node: calls that launched work
  std::vector<std::pair<NodeId, Interval>> gone_;  // launches that go, and the host's time for each
  Removal out_;
};

}  // namespace

Remedy remedy_of(const Scope& scope, const Ledger& ledger, const Finding& finding, double spreads,
                 std::span<const ClaimPart> claim) {
  Remedy out{.terms = {.uncertain = finding.doubt.value_or(doubt_of(finding.confidence)), .spreads = spreads}};
  for (const std::string& text : finding.changes) {
    if (auto change = parse_change(text)) out.changes.push_back(std::move(*change));
  }
  if (out.changes.empty()) out.removal = ClaimedTime(scope, ledger).of(claim, finding.comes_true, finding.gone);
  return out;
}

StepSavings::StepSavings(const Scope& scope, WhatIf::From from, std::optional<std::int64_t> measured_ns)
    : scope_(scope.of_whole_iterations()), what_if_(scope_, from, measured_ns) {}

Outcome StepSavings::outcome(std::span<const Remedy* const> remedies) const {
  std::vector<Change> changes;
  std::vector<const Removal*> removals;
  WhatIf::Terms terms;  // of several: the largest
  for (const Remedy* remedy : remedies) {
    changes.insert(changes.end(), remedy->changes.begin(), remedy->changes.end());
    if (remedy->changes.empty()) removals.push_back(&remedy->removal);
    terms.uncertain = std::max(terms.uncertain, remedy->terms.uncertain);
    terms.spreads = std::max(terms.spreads, remedy->terms.spreads);
  }
  return what_if_.outcome(changes, removals, terms);
}

Savings StepSavings::of(std::span<const Remedy* const> remedies, std::optional<std::int64_t> at_most_ns,
                        std::optional<std::int64_t> certain_ns) const {
  if (!what_if_.why_not().empty()) return {};
  // Waits between devices and processes take what they took: what an end of them brings, a replay does not tell.
  const auto tells = [](const Remedy* remedy) { return !remedy->changes.empty() || !remedy->removal.empty(); };
  if (!remedies.empty() && std::ranges::none_of(remedies, tells)) return {};
  const Outcome found = outcome(remedies);
  if (!found.step_ns) return {};
  const std::int64_t whole = std::max<std::int64_t>(1, what_if_.base_ns());
  const auto pct = [&](std::int64_t ns) { return 100 * static_cast<double>(ns) / static_cast<double>(whole); };
  // Work that goes costs nothing, however odd the times are that a damaged trace has of the rest.
  const bool only_goes = std::ranges::all_of(remedies, [](const Remedy* remedy) { return remedy->changes.empty(); });
  const std::int64_t saves = std::max(what_if_.base_ns() - *found.step_ns, only_goes ? 0 : INT64_MIN);
  Savings out;
  out.saves_ns = std::min({saves, at_most_ns.value_or(INT64_MAX), certain_ns.value_or(INT64_MAX)});
  out.less_than_change = *out.saves_ns < saves;
  out.saves_pct = pct(*out.saves_ns);
  const double bound = at_most_ns ? std::min(100.0, pct(*at_most_ns)) : 100;
  const double below = found.low_pct ? std::max(0.0, pct(saves) - *found.low_pct) : 0;
  // What saves something costs nothing; what costs may cost more.
  if (found.low_pct) out.low_pct = *out.saves_pct < 0 ? *out.saves_pct - below : std::max(0.0, *out.saves_pct - below);
  if (found.high_pct) out.high_pct = std::clamp(*found.high_pct, *out.saves_pct, std::max(bound, *out.saves_pct));
  return out;
}

bool explains_measured(std::int64_t measured_ns, std::int64_t without_profiler_ns) {
  return std::abs(without_profiler_ns - measured_ns) <= measured_ns / 50;
}

bool explains_measured(const WhatIf& what_if) {
  const auto measured = what_if.measured_ns();
  return !measured || !what_if.why_not().empty() || explains_measured(*measured, what_if.without_profiler_ns());
}

std::string unexplained_text(std::int64_t measured_ns, std::int64_t without_profiler_ns) {
  constexpr double kOtherUnit = 20;  // times: seconds and microseconds are a thousand off
  const auto measured = static_cast<double>(measured_ns), nearest = static_cast<double>(without_profiler_ns);
  const bool other_unit = measured > kOtherUnit * nearest || nearest > kOtherUnit * measured;
  return fmt::format(
      "no cost of the profiler explains the {} given with --step-time, so that figures are of the nearest, {}: {}",
      format_duration(measured), format_duration(nearest),
      other_unit ? "is it in ms?" : "is it of the same program, inputs and device, and of one step?");
}

Result<std::optional<std::int64_t>> measured_step(const Arguments& arguments) {
  const auto given = arguments.find("step_time");
  if (given == arguments.end()) return std::optional<std::int64_t>();
  double ms = 0;
  const char* end = given->second.data() + given->second.size();
  const auto [rest, error] = std::from_chars(given->second.data(), end, ms);
  if (error != std::errc() || rest != end || !(ms > 0) || ms > 1e9)
    return fail(ErrorCode::usage, "--step-time: '" + given->second + "' is no time", "",
                "give the milliseconds that a step takes when nobody records it, e.g. --step-time 4.83");
  return std::optional(std::llround(ms * 1e6));
}

}  // namespace ridge
