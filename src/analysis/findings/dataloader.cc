// dataloader: the device idled while the host waited for the next batch.
#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"

namespace ridge {
namespace {

// Fetching a batch that is ready takes time too: 50 to 75 us from eight workers that are ahead (pairs,
// tests/fixtures/README.md).
constexpr std::int64_t kReadyBatchNs = 100'000;

// Of a wait for workers, what more of them are expected to take away. How many there are, and how many processors are left for
// more, no trace tells; where one process loads and computes in turns, the first workers take away all of it.
constexpr double kOfWorkers = 0.85, kWorkersDoubt = 0.6;

bool has_workers(const Facts& facts, NodeId fetch) {
  return fetch != kNoNode && facts.name(fetch).find("MultiProcessing") != std::string_view::npos;
}

bool waits(const Facts& facts, NodeId fetch) { return fetch == kNoNode || facts.time(fetch).length() > kReadyBatchNs; }

}  // namespace

std::optional<Finding> find_dataloader(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  HostGone gone(facts);
  std::int64_t workers_ns = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::dataloader || !waits(facts, slot.piece.node)) return;
    const std::int64_t got = claim.take_idle(d, i);
    tally.add(slot.piece.node, got);
    if (has_workers(facts, slot.piece.node)) workers_ns += got;
    gone.add(slot.piece.node);
  });
  if (!claim.keep()) return std::nullopt;
  const bool workers = workers_ns * 2 > claim.ns();
  gone.reach_all_late(&claim);  // a host that does not wait for batches runs ahead of the device
  return Finding{
      .finding = "the data loader starves the device",
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action = workers
                    ? "give the loader more workers, until the device no longer waits: a larger num_workers while processors "
                      "are free, pin_memory=True, larger prefetch_factor; or make the dataset's __getitem__ cheaper"
                    : "load batches in the background: DataLoader(num_workers=4 or more, until the device no longer waits, "
                      "pin_memory=True, persistent_workers=True), or make the dataset's __getitem__ cheaper",
      .event = tally.event(),
      .comes_true = workers ? kOfWorkers : 1,
      .doubt = workers ? std::optional(kWorkersDoubt) : std::nullopt};
}

}  // namespace ridge
