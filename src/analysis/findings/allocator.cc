// allocator: the driver was asked for device memory, or got it back, in steady state. A caching allocator does so in the first
// iteration only, so calls of the first of several iterations are no finding.
#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

bool is_warm_up(const Facts& facts, NodeId node) {
  const Iterations& iterations = facts.model().iterations();
  return iterations.count() > 1 && node != kNoNode && facts.tree().start_ns[node.value] < iterations.list[1].start_ns;
}

}  // namespace

std::optional<Finding> find_allocator(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts, true);
  std::int64_t later = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::allocator) return;
    later += is_warm_up(facts, slot.piece.node) ? 0 : 1;
    tally.add(slot.piece.node, claim.take_idle(d, i));
  });
  if (later == 0 || !claim.keep()) return std::nullopt;
  const bool one = facts.model().iterations().count() == 1;
  return Finding{.finding = "the device waits while the driver allocates or frees device memory",
                 .at_most_ns = claim.ns(),
                 .confidence = one ? Confidence::medium : Confidence::high,
                 .evidence = tally.text(),
                 .action =
                     "remove torch.cuda.empty_cache() from the loop and keep the caching allocator on; if sizes vary, set "
                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                 .event = tally.event()};
}

}  // namespace ridge
