// Sums over a claim, and the step's length against the work that is left.
#include "analysis/findings/bounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/saturating.h"

namespace ridge {
namespace {

constexpr double kIdleVaries = 1.25, kWorkVaries = 1.05;  // from a recording to the program
constexpr double kHostUnseen = 1.5;                       // what goes of the host with a kernel, against what the trace shows
constexpr double kFaster = 0.95;                          // work that is left, against what it took

std::int64_t times(double factor, std::int64_t ns) {
  return static_cast<std::int64_t>(std::min(factor * static_cast<double>(ns), static_cast<double>(INT64_MAX / 4)));
}

bool is_wait(IdleCause cause) {
  return cause == IdleCause::sync || cause == IdleCause::copy_wait || cause == IdleCause::allocator ||
         cause == IdleCause::dataloader;
}

// How much earlier the host may be: without end where it waits no more. Of several processes in one trace, each with its own
// devices, the one that loses most.
std::int64_t host_ahead_ns(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> claim, const Remedy& remedy) {
  for (const ClaimPart& part : claim) {
    if (part.idle && is_wait(ledger.devices()[part.device].idle[part.slot].piece.cause)) return INT64_MAX / 4;
  }
  std::vector<Removal::Host> parts = remedy.removal.host;
  std::ranges::sort(parts, {}, [](const Removal::Host& part) { return std::pair(part.thread, part.time.start_ns); });
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  std::map<TrackPart, std::int64_t> by_process;
  std::int64_t most = 0;
  std::int64_t covered_ns = INT64_MIN;  // of the thread: parts may overlap
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || parts[i].thread != parts[i - 1].thread) covered_ns = INT64_MIN;
    const EventId first = tree.event[tree.threads[parts[i].thread].first];
    std::int64_t& sum = by_process[trace.forms.track(trace.track(first)).pid];
    const std::int64_t own_ns = parts[i].time.end_ns - std::max(parts[i].time.start_ns, covered_ns);
    if (own_ns > 0) saturating_add(&sum, times(parts[i].share, own_ns));
    covered_ns = std::max(covered_ns, parts[i].time.end_ns);
    most = std::max(most, sum);
  }
  return times(remedy.removal.gaps.empty() ? 1 : kHostUnseen, most);
}

// Time of work, added up by device.
class WorkByDevice {
 public:
  explicit WorkByDevice(const Scope& scope) : sums_(std::max<std::size_t>(1, scope.model().timeline().devices.size())) {
    if (sums_.size() == 1) return;
    device_.resize(scope.trace().of(EventClass::device_work).size());
    for (std::uint32_t d = 0; d < sums_.size(); ++d) {
      for (const WorkRow& work : scope.model().timeline().devices[d].work) device_[work.row] = d;
    }
  }
  void add(std::uint32_t row, std::int64_t ns) { saturating_add(&sums_[row < device_.size() ? device_[row] : 0], ns); }
  std::int64_t most_ns() const { return *std::ranges::max_element(sums_); }

 private:
  std::vector<std::uint32_t> device_;  // by row
  std::vector<std::int64_t> sums_;
};

bool is_of_program(const WhatIf& what_if) {
  return what_if.base_ns() > 0 && what_if.base_ns() == what_if.without_profiler_ns();
}

}  // namespace

bool is_of_host(const Remedy& remedy) {
  constexpr std::string_view kOfHost[] = {"cuda-graphs", "host", "no-breaks", "no-dataloader", "no-sync"};
  return remedy.removal.work.empty() && std::ranges::all_of(remedy.changes, [&](const Change& change) {
           return std::ranges::find(kOfHost, change.kind->name) != std::end(kOfHost);
         });
}

std::int64_t bound_of_claim(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> claim, const Remedy& remedy) {
  struct OfDevice {
    std::int64_t work_ns = 0, idle_ns = 0;
  };
  std::vector<OfDevice> held(ledger.devices().size());
  for (const ClaimPart& part : claim)
    saturating_add(part.idle ? &held[part.device].idle_ns : &held[part.device].work_ns, part.ns);
  const std::int64_t ahead_ns = host_ahead_ns(scope, ledger, claim, remedy);
  std::int64_t most = 0;
  for (std::size_t d = 0; d < held.size(); ++d) {
    std::int64_t idle_ns = 0;
    for (const IdleSlot& slot : ledger.devices()[d].idle) saturating_add(&idle_ns, slot.piece.length());
    const std::int64_t goes_ns = std::max(held[d].idle_ns, std::min(idle_ns, ahead_ns));
    const std::int64_t left_ns = times(kFaster, std::max<std::int64_t>(0, ledger.devices()[d].busy_ns - held[d].work_ns));
    most =
        std::max(most, std::min(times(kWorkVaries, held[d].work_ns) + times(kIdleVaries, goes_ns), ledger.span_ns() - left_ns));
  }
  return most;
}

// A step of twice the doubt longer than is thought, and work a little faster than recorded, so that it is a bound. Of several
// devices each has its own work: the least.
std::int64_t most_possible_ns(const StepSavings& savings, std::int64_t work_ns, const Ledger& ledger) {
  const WhatIf& what_if = savings.what_if();
  if (!is_of_program(what_if)) return INT64_MAX;
  std::int64_t stays = INT64_MAX;
  for (const DeviceLedger& device : ledger.devices()) stays = std::min(stays, device.busy_ns - work_ns);
  const double longest = static_cast<double>(what_if.base_ns()) * std::exp(2 * what_if.recorder_doubt());
  const double left =
      kFaster * static_cast<double>(std::max<std::int64_t>(0, stays)) / static_cast<double>(ledger.iterations());
  return static_cast<std::int64_t>(std::max(0.0, longest - left));
}

BusiestDevice busiest_of(const Ledger& ledger) {
  std::int64_t busy = 0;
  for (const DeviceLedger& device : ledger.devices()) busy = std::max(busy, device.busy_ns);
  return {.busy_ns = busy / ledger.iterations(), .iterations = ledger.iterations()};
}

// In the recorded programs that docs/accuracy.md calls read, no step with a fault of the host's is so; of those without a fault
// every other one.
std::optional<std::int64_t> certain_ns(const StepSavings& savings, std::span<const Remedy* const> remedies,
                                       const BusiestDevice& busiest) {
  constexpr std::int64_t kGapNs = 1'000;  // between two kernels of a stream
  const WhatIf& what_if = savings.what_if();
  if (what_if.measured_ns() || what_if.base_ns() != what_if.without_profiler_ns()) return std::nullopt;
  const std::int64_t busy = busiest.busy_ns;
  if (busy < what_if.without_profiler_least_ns()) {
    if (!std::ranges::all_of(remedies, [](const Remedy* remedy) { return is_of_host(*remedy); })) return std::nullopt;
    return std::max<std::int64_t>(0, what_if.without_profiler_most_ns() - busy);
  }
  std::vector<const Removal*> removals;
  for (const Remedy* remedy : remedies) removals.push_back(&remedy->removal);
  WorkByDevice work(savings.scope());
  for (const Removal::Work& part : work_gone(removals)) work.add(part.row, part.ns);
  for (const Removal* removal : removals) {
    for (const Removal::Gap& gap : removal->gaps) work.add(gap.row, kGapNs);
  }
  return work.most_ns() / busiest.iterations;
}

bool recorder_may_be_all(const StepSavings& savings, const Ledger& ledger) {
  const WhatIf& what_if = savings.what_if();
  if (what_if.measured_ns() || !is_of_program(what_if)) return false;
  const double shortest = static_cast<double>(what_if.base_ns()) * std::exp(-2 * what_if.recorder_doubt());
  return static_cast<double>(busiest_of(ledger).busy_ns) >= shortest;
}

}  // namespace ridge
