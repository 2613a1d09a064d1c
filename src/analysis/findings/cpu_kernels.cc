// cpu_kernels: the device waits while compiled code computes on the host, because ops on CPU tensors were compiled with the
// others (model/cpu_kernels.h). The idle time under such kernels is claimed.
#include "model/cpu_kernels.h"
#include "analysis/findings/catalog.h"

namespace ridge {

std::optional<Finding> find_cpu_kernels(Facts& facts) {
  Claim claim(facts.ledger());
  Tally tally;
  NodeId last = kNoNode;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const NodeId node = slot.piece.node;
    if (slot.piece.cause != IdleCause::launch || node == kNoNode || !is_cpu_kernel(facts.trace(), facts.tree(), node)) return;
    const std::string_view file = name_cpu_kernel(facts.trace(), facts.tree(), node).file;
    tally.add(facts.name_id(node), reinterpret_cast<std::uintptr_t>(file.data()), node.value, claim.take_idle(d, i),
              node == last ? 0 : 1);
    last = node;
  });
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "the device waits for CPU kernels of compiled code: " + per_iteration(facts, tally.count(), "kernel"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = evidence_of(facts, tally,
                              [&](std::uint32_t sample) {
                                const CpuKernelName name = name_cpu_kernel(facts.trace(), facts.tree(), NodeId{sample});
                                const std::string_view place = facts.location(NodeId{sample});
                                return std::string(name.kernel) + (name.file.empty() ? "" : " of ") + std::string(name.file) +
                                       (place.empty() ? "" : " at ") + std::string(place);
                              }),
      .action =
          "move the tensors that these kernels work on to the device, or take their ops out of the compiled function and "
          "run them while the device works",
      .event = facts.event_of(tally.largest())};
}

}  // namespace ridge
