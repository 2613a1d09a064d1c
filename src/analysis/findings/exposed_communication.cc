// exposed_communication: collectives that no computation covers, and the device's waiting for them: for kernels of a
// collective, or for one that runs on the host (gloo, MPI).
#include "analysis/findings/catalog.h"
#include "base/units.h"

namespace ridge {
namespace {

bool is_comm(const Facts& facts, std::uint32_t row) { return row != kNoWork && facts.identity(row).category == Category::comm; }

bool waits_for_comm(const Facts& facts, const IdleSlot& slot) {
  if (slot.piece.cause != IdleCause::dependency) return false;
  const bool on_host = slot.piece.node != kNoNode && facts.tree().class_of(slot.piece.node) == EventClass::annotation;
  return on_host || is_comm(facts, slot.last_work) || is_comm(facts, slot.next_work);
}

constexpr std::string_view kTrainingAdvice =
    "overlap it with larger or earlier buckets (DDP bucket_cap_mb, FSDP prefetch), or send less often: gradient accumulation "
    "with no_sync()";
constexpr std::string_view kInferenceAdvice =
    "overlap it with another micro-batch, or send less: fewer and larger collectives, kernels that fuse them with the GEMMs "
    "around them, less tensor parallelism";
constexpr std::string_view kAnyAdvice = "overlap it with computation, or send less";

std::string advice(ProgramKind program) {
  const std::string_view what = program == ProgramKind::trains   ? kTrainingAdvice
                                : program == ProgramKind::infers ? kInferenceAdvice
                                                                 : kAnyAdvice;
  return std::string(what) + "; to find a late rank, record one trace per rank";
}

}  // namespace

std::optional<Finding> find_exposed_communication(Facts& facts) {
  Claim claim(facts.ledger());
  WorkTally work(facts);
  HostTally host(facts);
  std::int64_t waited_ns = 0;
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (slot.work.sort == WorkSort::comm) work.add(slot.work.row, claim.take_work(d, i));
  });
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (!waits_for_comm(facts, slot)) return;
    const std::int64_t ns = claim.take_idle(d, i);
    waited_ns += ns;
    if (slot.piece.node != kNoNode && facts.tree().class_of(slot.piece.node) == EventClass::annotation)
      host.add(slot.piece.node, ns, d);
  });
  if (!claim.keep()) return std::nullopt;
  const bool on_host = host.tally().empty() ? false : work.tally().empty();
  return Finding{
      .finding =
          on_host ? "the device waits for collectives that run on the host" : "communication does not overlap with computation",
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = work.tally().empty() ? host.text()
                  : waited_ns == 0     ? work.text()
                                   : work.text() + ", and the device waits " + duration_text(facts, waited_ns) + " for them",
      .action =
          on_host
              ? "use the device's own backend (nccl) for tensors on the device; to find a late rank, record one trace per rank"
              : advice(facts.program()),
      .event = work.tally().empty() ? host.event() : work.event()};
}

}  // namespace ridge
