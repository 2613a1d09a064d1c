// dataloader: the device idled while the host waited for the next batch.
#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"

namespace ridge {
namespace {

// Fetching a batch that is ready takes time too: 50 to 75 us from eight workers that are ahead (pairs,
// tests/fixtures/README.md).
constexpr std::int64_t kReadyBatchNs = 100'000;

bool waits(const Facts& facts, NodeId fetch) { return fetch == kNoNode || facts.time(fetch).length() > kReadyBatchNs; }

}  // namespace

std::optional<Finding> find_dataloader(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  HostGone gone(facts);
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::dataloader || !waits(facts, slot.piece.node)) return;
    tally.add(slot.piece.node, claim.take_idle(d, i));
    gone.add(slot.piece.node);
  });
  if (!claim.keep()) return std::nullopt;
  gone.reach_all_late(&claim);  // a host that does not wait for batches runs ahead of the device
  return Finding{.finding = "the data loader starves the device",
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = tally.text(),
                 .action =
                     "load batches in the background: DataLoader(num_workers=4 or more, pin_memory=True, "
                     "persistent_workers=True, prefetch_factor=2 or more), or make the dataset's __getitem__ cheaper",
                 .event = tally.event()};
}

}  // namespace ridge
