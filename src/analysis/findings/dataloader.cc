// dataloader: the device idled while the host waited for the next batch.
#include "analysis/findings/catalog.h"
#include "analysis/findings/hidden_waits.h"
#include "analysis/findings/host_gone.h"
#include "analysis/findings/savings.h"
#include "predict/worker_fetches.h"

namespace ridge {
namespace {

// Fetching a batch that is ready takes time too: 50 to 75 us from eight workers that are ahead (pairs,
// tests/fixtures/README.md).
constexpr std::int64_t kReadyBatchNs = 100'000;

// Of a wait for workers, what more of them are expected to take away. How many there are, and how many processors are left for
// more, no trace tells; where one process loads and computes in turns, the first workers take away all of it.
constexpr double kOfWorkers = 0.85, kWorkersDoubt = 0.6;

bool waits(const Facts& facts, NodeId fetch) { return fetch == kNoNode || facts.time(fetch).length() > kReadyBatchNs; }

constexpr std::string_view kMoreWorkers =
    "give the loader more workers, until the device no longer waits: a larger num_workers while processors are free, "
    "pin_memory=True, larger prefetch_factor; or make the dataset's __getitem__ cheaper";

}  // namespace

std::optional<Finding> find_dataloader(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  HostGone gone(facts);
  std::int64_t workers_ns = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::dataloader || !waits(facts, slot.piece.node)) return;
    const std::int64_t got = claim.take_idle(d, i);
    tally.add(slot.piece.node, got, d);
    if (has_workers(facts.model(), slot.piece.node)) workers_ns += got;
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
      .action = workers ? std::string(kMoreWorkers)
                        : "load batches in the background: DataLoader(num_workers=4 or more, until the device no longer waits, "
                          "pin_memory=True, persistent_workers=True), or make the dataset's __getitem__ cheaper",
      .event = tally.event(),
      .comes_true = workers ? kOfWorkers : 1,
      .doubt = workers ? std::optional(kWorkersDoubt) : std::nullopt};
}

std::optional<Finding> find_hidden_dataloader(const Facts& facts, const StepSavings& savings) {
  constexpr double kNotablePct = 5;
  constexpr std::string_view kChange = "no-dataloader";
  if (savings.what_if().hidden_fetch_ns() == 0) return std::nullopt;
  const Remedy remedy{.changes = {*parse_change(kChange)}};
  const Remedy* const all = &remedy;
  if (savings.of({&all, 1}, std::nullopt).saves_pct.value_or(0) < kNotablePct) return std::nullopt;
  HostTally tally(facts);
  for (const std::vector<HostStall>& stalls : facts.model().host_stalls().of_thread) {
    for (const HostStall& stall : stalls) {
      if (stall.cause == IdleCause::dataloader && facts.scope().holds(stall.node))
        tally.add(stall.node, stall.end_ns - stall.start_ns);
    }
  }
  return Finding{.finding =
                     "the data loader may starve the device without the profiler: how fast its workers are, a recorded "
                     "host does not tell",
                 .at_most_ns = {},
                 .confidence = Confidence::low,
                 .evidence = tally.text(),
                 .action = std::string(kMoreWorkers),
                 .event = tally.event(),
                 .changes = {std::string(kChange)},
                 .doubt = kWorkersDoubt};
}

}  // namespace ridge
