// allocator: the driver was asked for device memory, or got it back, in steady state. A caching allocator does so in the first
// iteration only, so calls of the first of several iterations are no finding.
//
// A call that the device is still busy with holds the host up as well, and the device later on: all of them go.
#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"

namespace ridge {
namespace {

bool is_warm_up(const Facts& facts, NodeId node) {
  const Iterations& iterations = facts.model().iterations();
  return iterations.count() > 1 && node != kNoNode && facts.tree().start_ns[node.value] < iterations.list[1].start_ns;
}

// Whether the first iteration has about as many of these calls as those that follow: then it warms nothing up.
bool first_is_like_others(const Facts& facts) {
  constexpr std::int64_t kAlike = 2;
  std::int64_t first = 0, others = 0;
  for (const std::vector<HostStall>& stalls : facts.model().host_stalls().of_thread) {
    for (const HostStall& stall : stalls) {
      if (stall.cause == IdleCause::allocator && facts.scope().holds(stall.node))
        ++(is_warm_up(facts, stall.node) ? first : others);
    }
  }
  return first * (facts.ledger().iterations() - 1) <= kAlike * others;
}

}  // namespace

std::optional<Finding> find_allocator(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts, true);
  HostGone gone(facts);
  std::int64_t later = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::allocator) return;
    later += is_warm_up(facts, slot.piece.node) ? 0 : 1;
    tally.add(slot.piece.node, claim.take_idle(d, i));
  });
  if (later == 0) return std::nullopt;
  const bool alike = first_is_like_others(facts);
  for (const std::vector<HostStall>& stalls : facts.model().host_stalls().of_thread) {
    for (const HostStall& stall : stalls) {
      if (stall.cause == IdleCause::allocator && facts.scope().holds(stall.node) && (alike || !is_warm_up(facts, stall.node)))
        gone.add(stall.node);
    }
  }
  gone.reach(&claim);
  if (!claim.keep()) return std::nullopt;
  gone.reach_all_late(&claim);  // the driver waits for the device in these calls
  const bool one = facts.model().iterations().count() == 1;
  return Finding{.finding = "the device waits while the driver allocates or frees device memory",
                 .at_most_ns = claim.ns(),
                 .confidence = one ? Confidence::medium : Confidence::high,
                 .evidence = tally.text(),
                 .action =
                     "remove torch.cuda.empty_cache() from the loop and keep the caching allocator on; if sizes vary, set "
                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                 .event = tally.event(),
                 .gone = gone.removal()};
}

}  // namespace ridge
