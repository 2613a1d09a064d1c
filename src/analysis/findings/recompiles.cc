// recompiles: a frame that had compiled code was compiled again, because a guard failed. Cost: what the device idled meanwhile.
#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/units.h"

namespace ridge {
namespace {

// From the lookup that missed to the region that was compiled for it.
void take_forward(const Facts& facts, Claim* claim) {
  const CompiledRegions& regions = facts.model().compiled_regions();
  for (const CacheLookup& lookup : regions.lookups) {
    if (lookup.outcome != LookupOutcome::compiled || lookup.region == kNoCall || !facts.scope().holds(lookup.node)) continue;
    const CompiledCall& region = regions.calls[lookup.region];
    if (region.id.compile <= 0) continue;
    const Interval time{facts.time(lookup.node).end_ns, facts.time(region.node).start_ns};
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) claim->take_idle_within(d, time);
  }
}

// The backward of a recompiled frame is compiled when it first runs, far from the lookup.
void take_backward(const Facts& facts, Claim* claim) {
  for (const CompilePhase& phase : facts.model().compile_phases().phases) {
    if (phase.parent != kNoPhase || phase.id.compile <= 0 || !facts.scope().holds(phase.node)) continue;
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) claim->take_idle_within(d, facts.time(phase.node));
  }
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
  take_forward(facts, &claim);
  take_backward(facts, &claim);
  claim.keep_anyway();
  return Finding{.finding = counted(static_cast<std::int64_t>(recompiles.size()), "recompile") + " inside the window",
                 .saves_ns = claim.ns() > 0 ? std::optional(claim.ns()) : std::nullopt,
                 .confidence = Confidence::high,
                 .evidence = list(recompiles),
                 .action =
                     "find the guard that fails with TORCH_LOGS=recompiles; sizes that change are marked with "
                     "torch._dynamo.mark_dynamic or torch.compile(dynamic=True)"};
}

}  // namespace ridge
