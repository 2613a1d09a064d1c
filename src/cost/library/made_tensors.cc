// A walk over the nodes below an op, which stand right behind it.
#include "cost/library/made_tensors.h"

#include "ops/allocations.h"

namespace ridge {

std::vector<std::uint32_t> allocations_under(const Trace& trace, const CallTree& tree, NodeId owner, OpSignatures* signatures) {
  std::vector<std::uint32_t> found;
  for (std::size_t n = owner.value + std::size_t{1}; n < tree.size(); ++n) {
    if (tree.parent[n] == kNoNode || tree.parent[n] < owner) break;
    if (tree.event_class[n] != EventClass::op) continue;
    if (is_allocation(trace.text(trace.events.name(tree.event[n])))) found.push_back(signatures->of(tree.event[n]));
  }
  return found;
}

std::vector<TensorShape> made_tensors(const OpSignatures& signatures, std::span<const std::uint32_t> allocations) {
  std::vector<TensorShape> made;
  for (const std::uint32_t id : allocations) {
    if (auto tensor = allocated(signatures.call(id))) made.push_back(std::move(*tensor));
  }
  return made;
}

}  // namespace ridge
