// host_pause: the device waits at length for one launch: not because launching is slow but because the host did something else, which the trace does not
// name as a wait, a compilation or a batch. What ran then is told as far as the trace tells.
#include <algorithm>

#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

// The outermost slice that lies in the pause: what the host was at. Else the launch that ended it.
NodeId at_work(const Facts& facts, const IdleSlot& slot) {
  const NodeId launch = facts.launch(slot.next_work);
  NodeId found = launch;
  for (NodeId n = launch; n != kNoNode; n = facts.tree().parent[n.value]) {
    const Interval time = facts.time(n);
    if (time.start_ns < slot.piece.start_ns) break;
    if (facts.tree().class_of(n) == EventClass::op) found = n;
  }
  return found;
}

}  // namespace

std::optional<Finding> find_host_pause(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::launch || slot.piece.length() < kHostPauseNs) return;
    tally.add(at_work(facts, slot), claim.take_idle(d, i));
  });
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "the device waits at length while the host is busy otherwise: " +
                 per_iteration(facts, tally.tally().count(), "pause"),
      .saves_ns = claim.ns(),
      .confidence = Confidence::low,
      .evidence = "before " + tally.text(),
      .action =
          "see what the host does there (ridge gaps; record with with_stack=True) and move it out of the loop or to another "
          "thread",
      .event = tally.event()};
}

}  // namespace ridge
