// launch_bound: what is left of the time in which the device waited for launches, once every more specific cause has claimed
// its part. Whether the host is too slow for the device is `launches`' to say. What the host lost to being recorded
// (model/recorder_cost.h) is not claimed: the program does not wait for it when nobody records.
#include <algorithm>
#include <iterator>

#include "analysis/findings/catalog.h"
#include "analysis/graphs/compiled_share.h"
#include "analysis/launches/launches.h"
#include "base/saturating.h"
#include "base/units.h"
#include "facts/capture_sizes.h"
#include "model/recorder_cost.h"

#include <fmt/format.h>

namespace ridge {
namespace {

// Below a tenth of the span late launches are not what bounds a program (the same as in `launches`).
constexpr std::int64_t kStarvedPart = 10;
constexpr double kMostlyCompiledPct =
    50;  // of the device time: below that it is not the compiled graphs that are launched late

// How much of each wait for a launch, in order of time, is the recorder's: without its cost the host would have been that much
// earlier. Earlier waits that it would have shortened have used up their part, and a host that waits for the device has nothing
// left of it.
class RecorderShare {
 public:
  // Of one device: another rank's host, recorded beside it, is none of its own.
  RecorderShare(const Facts& facts, const std::vector<IdleSlot>& slots, std::int64_t from_ns)
      : RecorderShare(facts, launching(facts, slots), from_ns) {}

  std::int64_t of(const IdleSlot& slot) {
    const NodeId launch = facts_.launch(slot.next_work);
    if (launch == kNoNode) return 0;
    const std::int64_t launched = facts_.time(launch).end_ns;
    const auto next = std::upper_bound(waits_.begin(), waits_.end(), launched);
    if (next != waits_.begin() && *std::prev(next) > since_ns_) {
      since_ns_ = *std::prev(next);
      used_ns_ = 0;
    }
    const std::int64_t share = std::clamp<std::int64_t>(cost_.between(since_ns_, launched) - used_ns_, 0, slot.piece.length());
    used_ns_ += share;
    return share;
  }

 private:
  RecorderShare(const Facts& facts, const std::vector<bool>& threads, std::int64_t from_ns)
      : facts_(facts),
        cost_(facts.trace(), facts.tree(), threads),
        waits_(waits_of(facts.model().host_stalls(), threads)),
        since_ns_(from_ns) {}

  // The threads that launched what the device waited for.
  static std::vector<bool> launching(const Facts& facts, const std::vector<IdleSlot>& slots) {
    const std::vector<HostThread>& threads = facts.tree().threads;
    std::vector<bool> found(threads.size());
    for (const IdleSlot& slot : slots) {
      const NodeId launch = slot.next_work == kNoWork ? kNoNode : facts.launch(slot.next_work);
      if (launch == kNoNode || launch.value >= facts.tree().recorded) continue;
      const auto after = std::upper_bound(threads.begin(), threads.end(), launch.value,
                                          [](std::uint32_t n, const HostThread& t) { return n < t.first; });
      if (after != threads.begin()) found[static_cast<std::size_t>(after - threads.begin()) - 1] = true;
    }
    return found;
  }

  // When these threads had waited for the device.
  static std::vector<std::int64_t> waits_of(const HostStalls& stalls, const std::vector<bool>& threads) {
    std::vector<std::int64_t> ends;
    for (std::size_t t = 0; t < stalls.of_thread.size(); ++t) {
      if (!threads[t]) continue;
      for (const HostStall& stall : stalls.of_thread[t]) {
        if (stall.cause == IdleCause::sync || stall.cause == IdleCause::copy_wait) ends.push_back(stall.end_ns);
      }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  const Facts& facts_;
  RecorderCost cost_;
  std::vector<std::int64_t> waits_;
  std::int64_t since_ns_ = 0, used_ns_ = 0;
};

// Takes what late launches cost; returns how many kernels were late.
std::int64_t take_late_launches(Facts& facts, Claim* claim, HostTally* tally) {
  std::int64_t late = 0;
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
    const std::vector<IdleSlot>& slots = facts.ledger().devices()[d].idle;
    RecorderShare recorder(facts, slots, facts.ledger().time().begins_ns);
    std::uint32_t last = kNoWork;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const IdleSlot& slot = slots[i];
      if (slot.piece.cause != IdleCause::launch || slot.next_work == kNoWork) continue;
      const std::int64_t own_ns = slot.piece.length() - recorder.of(slot);
      if (facts.by_graph_launch(slot.next_work)) continue;  // launched at once already
      const std::int64_t got = claim->take_idle(d, i, std::min(slot.open_ns, own_ns));
      if (got <= 0) continue;
      tally->add(facts.launch(slot.next_work), got);
      late += slot.next_work != last ? 1 : 0;  // a wait may be in several pieces
      last = slot.next_work;
    }
  }
  return late;
}

// What would make launches cheaper. CUDA graphs only where most of the waiting is for kernels of which a graph would hold
// several.
struct LaunchRemedy {
  bool compiled = false;      // most of the device time
  bool takes_graphs = false;  // the device's API
  bool several = false;
  ProgramKind program = ProgramKind::unknown;

  std::string text() const {
    const std::string larger = "give each kernel more work, e.g. a larger batch";
    if (takes_graphs && several) {
      if (compiled) return "use CUDA graphs: torch.compile(mode=\"reduce-overhead\")";
      return fmt::format("use CUDA graphs (torch.compile(mode=\"reduce-overhead\") or {}), or {}",
                         program == ProgramKind::infers ? "torch.cuda.graph" : "torch.cuda.make_graphed_callables", larger);
    }
    if (!compiled) return "launch fewer kernels: torch.compile fuses them, or " + larger;
    return takes_graphs ? "compile more of the program at once, or " + larger +
                              "; CUDA graphs do not help: a graph of so few kernels costs more to replay than they to launch"
                        : larger;
  }
};

bool mostly_several(Facts& facts) {
  const CaptureSizes sizes(facts.scope());
  std::int64_t several_ns = 0, whole_ns = 0;
  for (const DeviceLedger& device : facts.ledger().devices()) {
    for (const IdleSlot& slot : device.idle) {
      if (slot.piece.cause != IdleCause::launch || slot.next_work == kNoWork || facts.by_graph_launch(slot.next_work)) continue;
      saturating_add(&whole_ns, slot.piece.length());
      if (sizes.worthwhile(slot.next_work)) saturating_add(&several_ns, slot.piece.length());
    }
  }
  return several_ns * 2 >= whole_ns;
}

}  // namespace

std::optional<Finding> find_launch_bound(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  const std::int64_t launches = take_late_launches(facts, &claim, &tally);
  if (claim.ns() < facts.ledger().span_ns() / kStarvedPart) return std::nullopt;
  const std::vector<DeviceLaunches>& devices = facts.launch_rates();
  const auto any = [&](auto wanted) { return std::any_of(devices.begin(), devices.end(), wanted); };
  if (!any([](const DeviceLaunches& d) { return !host_keeps_up(d).value_or(false); })) return std::nullopt;
  const bool first_of_all = any([](const DeviceLaunches& d) { return d.launch_bound.value_or(false); });
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool pause = slot.piece.cause == IdleCause::kernel_gap && !slot.in_graph && slot.next_work != kNoWork;
    if (pause && !facts.by_graph_launch(slot.next_work)) claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  const bool compiled = facts.graphs().compiled() && compiled_pct(facts.graphs()).value_or(100) >= kMostlyCompiledPct;
  return Finding{.finding = (first_of_all ? "launch-bound" : "late launches (secondary cause)") +
                            std::string(": the device waits for the host before ") + per_iteration(facts, launches, "kernel"),
                 .at_most_ns = claim.ns(),
                 .confidence = first_of_all ? Confidence::high : Confidence::medium,
                 .evidence = tally.text(),
                 .action = LaunchRemedy{.compiled = compiled,
                                        .takes_graphs = any([](const DeviceLaunches& d) { return d.takes_graphs; }),
                                        .several = mostly_several(facts),
                                        .program = facts.program()}
                               .text(),
                 .event = tally.event()};
}

}  // namespace ridge
