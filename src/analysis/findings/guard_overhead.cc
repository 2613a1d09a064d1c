// guard_overhead: the device idled while Dynamo looked for compiled code whose guards hold. Several versions of one frame make
// it dearer.
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "base/saturating.h"

namespace ridge {
namespace {

// "; frame 0 has 5 versions in use": guard churn.
std::string churn(const Facts& facts) {
  std::map<std::int32_t, std::set<std::int32_t>> versions;
  for (const CompiledCall& call : facts.model().compiled_regions().calls) {
    if (call.sort == CompiledSort::region && call.id.frame >= 0 && facts.scope().holds(call.node))
      versions[call.id.frame].insert(call.id.compile);
  }
  std::string out;
  std::size_t shown = 0;
  for (const auto& [frame, set] : versions) {
    if (set.size() > 1 && shown++ < kShown) out += fmt::format("; frame {} has {} versions in use", frame, set.size());
  }
  return out;
}

// Lookups under which the device was busy hold later launches up.
void reach_behind_lookups(const Facts& facts, Claim* claim) {
  HostGone gone(facts);
  for (const CacheLookup& lookup : facts.model().compiled_regions().lookups) {
    if (facts.scope().holds(lookup.node)) gone.add(lookup.node);
  }
  gone.reach(claim);
}

}  // namespace

std::optional<Finding> find_guard_overhead(Facts& facts) {
  Claim claim(facts.ledger());
  std::int64_t lookups = 0, idle_ns = 0;
  NodeId last = kNoNode;
  Largest longest;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::guards) return;
    const std::int64_t ns = claim.take_idle(d, i);
    saturating_add(&idle_ns, ns);
    if (slot.piece.node != kNoNode) longest.see(slot.piece.node.value, ns);
    lookups += slot.piece.node != last;
    last = slot.piece.node;
  });
  if (!claim.keep()) return std::nullopt;
  reach_behind_lookups(facts, &claim);
  return Finding{.finding = "the device idles while Dynamo checks guards",
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = "TorchDynamo Cache Lookup: " + per_iteration(facts, lookups, "lookup") +
                             " with the device idle, " + duration_text(facts, idle_ns) + churn(facts),
                 .action =
                     "compile a larger part at once, so that fewer frames are looked up; skip guards with "
                     "torch.compile(options={\"guard_filter_fn\": torch.compiler.skip_guard_on_all_nn_modules_unsafe})",
                 .event = facts.event_of(longest.id())};
}

}  // namespace ridge
