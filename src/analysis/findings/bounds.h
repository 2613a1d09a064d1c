// Bounds: what following a finding's advice brings at most, and what is certain of it, of the program when nobody records it.
//
// Why a bound holds. A step is the longest path through its work, its host's time and its waits. A remedy shortens each path by
// no more than what it takes away of it: the work that the claim holds, and the host's time that goes; and no step is shorter
// than the work that is left. So at most goes
//   1. the work of the claim, and
//   2. of the device's idle time what the claim holds and, of the rest, as much as the host's time that goes. Where kernels go
//      half as much again: a trace shows the ops that launch them, not all that Python and autograd do for these.
//      Where a wait of the host goes, all of it: a host that waits no more runs ahead of the device.
// A program differs from its recording: of 346 recordings that docs/accuracy.md calls read, the step that nobody recorded took
// at most 1.22 times the recorded one. Idle time counts for a quarter more, work for a twentieth. What rules must see to is
// that their claims hold (or reach) all work that their remedies may shorten.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/findings/ledger.h"
#include "analysis/findings/savings.h"

namespace ridge {

// Whether a remedy leaves the device's work as it is: it brings no more than the device waits.
bool is_of_host(const Remedy& remedy);

// 1 and 2, over the scope, on the device with most of it; never more than the iterations take, less the work that is left. The
// ledger is still open.
std::int64_t bound_of_claim(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> claim, const Remedy& remedy);

// No remedy brings more than a step takes without the profiler, less the work that it leaves; per iteration. `work_ns`: of the
// claim, over the scope.
std::int64_t most_possible_ns(const StepSavings& savings, std::int64_t work_ns, const Ledger& ledger);

// The device that works longest in an iteration.
struct BusiestDevice {
  std::int64_t busy_ns = 0;  // in an iteration
  std::int64_t iterations = 1;
};
BusiestDevice busiest_of(const Ledger& ledger);

// A step whose device may be busy for all of it, for what is known of its length: what the host would do sooner is not counted
// on then, but for the work that goes with it. Where it is not, a remedy of the host's brings at most what the device waits in
// the longest step. Per iteration.
std::optional<std::int64_t> certain_ns(const StepSavings& savings, std::span<const Remedy* const> remedies,
                                       const BusiestDevice& busiest);

// Whether the device may be busy for all of the step in the recorder's worst case: a step shorter than is thought by twice the
// doubt. Of 19 recordings of which that is so, one waited for nothing but its recorder; a trace does not tell which.
bool recorder_may_be_all(const StepSavings& savings, const Ledger& ledger);

}  // namespace ridge
