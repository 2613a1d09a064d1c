// recompiles: a frame that had compiled code was compiled again, because a guard failed. Cost: what the device idled meanwhile,
// or ran for the compiler.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/interval_set.h"
#include "base/units.h"

namespace ridge {
namespace {

bool is_recompiled(const Facts& facts, const CacheLookup& lookup) {
  const std::vector<CompiledCall>& calls = facts.model().compiled_regions().calls;
  return lookup.outcome == LookupOutcome::compiled && lookup.region != kNoCall && facts.scope().holds(lookup.node) &&
         calls[lookup.region].id.compile > 0;
}

bool is_recompilation(const Facts& facts, const CompilePhase& phase) {
  return phase.parent == kNoPhase && phase.id.compile > 0 && facts.scope().holds(phase.node);
}

// From the lookup that missed to the region that was compiled for it. The backward of a recompiled frame is compiled when it
// first runs, far from the lookup.
IntervalSet recompiling(const Facts& facts) {
  std::vector<Interval> times;
  const CompiledRegions& regions = facts.model().compiled_regions();
  for (const CacheLookup& lookup : regions.lookups) {
    if (!is_recompiled(facts, lookup)) continue;
    times.push_back({facts.time(lookup.node).end_ns, facts.time(regions.calls[lookup.region].node).start_ns});
  }
  for (const CompilePhase& phase : facts.model().compile_phases().phases) {
    if (is_recompilation(facts, phase)) times.push_back(facts.time(phase.node));
  }
  return IntervalSet(std::move(times));
}

bool is_in(std::span<const Interval> times, std::int64_t time_ns) {
  const auto next = std::upper_bound(times.begin(), times.end(), time_ns,
                                     [](std::int64_t t, const Interval& interval) { return t < interval.start_ns; });
  return next != times.begin() && time_ns < (next - 1)->end_ns;
}

void take(Facts& facts, const IntervalSet& times, Claim* claim) {
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
    for (const Interval& time : times.intervals()) claim->take_idle_within(d, time);
  }
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    if (facts.is_compilers(row) && is_in(times.intervals(), facts.time(facts.launch(row)).start_ns)) claim->take_work(d, i);
  });
}

// The longest one's slice; where phases of the compiler were not recorded, the lookup that missed.
std::optional<std::uint32_t> longest_compilation(const Facts& facts) {
  Largest phases, lookups;
  for (const CompilePhase& phase : facts.model().compile_phases().phases) {
    if (is_recompilation(facts, phase)) phases.see(phase.node.value, facts.tree().duration_ns(phase.node));
  }
  const CompiledRegions& regions = facts.model().compiled_regions();
  for (const CacheLookup& lookup : regions.lookups) {
    if (!is_recompiled(facts, lookup)) continue;
    const NodeId region = regions.calls[lookup.region].node;
    lookups.see(lookup.node.value, facts.time(region).start_ns - facts.time(lookup.node).end_ns);
  }
  return phases.id() ? phases.id() : lookups.id();
}

std::string list(const std::vector<Recompile>& recompiles) {
  std::string out;
  for (std::size_t i = 0; i < recompiles.size() && i < kShown; ++i) {
    const Recompile& r = recompiles[i];
    out += fmt::format("{}{}{}, {}", i == 0 ? "" : "; ", text_of(r.id), r.location.empty() ? "" : " " + r.location,
                       format_duration(static_cast<double>(r.compile_ns)));
  }
  return out + (recompiles.size() > kShown ? and_more(recompiles.size() - kShown) : "");
}

}  // namespace

std::optional<Finding> find_recompiles(Facts& facts) {
  const std::vector<Recompile>& recompiles = facts.breaks().recompiles;
  if (recompiles.empty()) return std::nullopt;
  Claim claim(facts.ledger());
  take(facts, recompiling(facts), &claim);
  claim.keep_anyway();
  return Finding{.finding = counted(static_cast<std::int64_t>(recompiles.size()), "recompile") + " inside the window",
                 .at_most_ns = claim.ns() > 0 ? std::optional(claim.ns()) : std::nullopt,
                 .confidence = Confidence::high,
                 .evidence = list(recompiles),
                 .action =
                     "find the failing guard with TORCH_LOGS=recompiles; mark changing sizes with torch._dynamo.mark_dynamic, "
                     "or use torch.compile(dynamic=True)",
                 .event = facts.event_of(longest_compilation(facts))};
}

}  // namespace ridge
