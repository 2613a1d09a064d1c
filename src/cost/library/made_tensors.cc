// A walk over the nodes below an op, which stand right behind it.
#include "cost/library/made_tensors.h"

#include "ops/operands.h"

namespace ridge {
namespace {

// Where the type stands; sizes stand first. "aten::empty_like" calls one of them.
struct Allocation {
  std::string_view op;
  std::size_t dtype_at;
};
constexpr Allocation kAllocations[] = {{"aten::empty", 1}, {"aten::empty_strided", 2}, {"aten::zeros", 1}};

const Allocation* find_allocation(std::string_view op) {
  for (const Allocation& each : kAllocations) {
    if (each.op == op) return &each;
  }
  return nullptr;
}

}  // namespace

bool asks_for_made(const OpFormula& row) {
  const auto* at = std::get_if<ExpertsPositions>(&row.positions);
  return at != nullptr && at->up < 0 && at->down < 0;
}

std::vector<std::uint32_t> allocations_under(const Trace& trace, const CallTree& tree, NodeId owner, OpSignatures* signatures) {
  std::vector<std::uint32_t> found;
  for (std::size_t n = owner.value + std::size_t{1}; n < tree.size(); ++n) {
    if (tree.parent[n] == kNoNode || tree.parent[n] < owner) break;
    if (tree.event_class[n] != EventClass::op) continue;
    if (find_allocation(trace.text(trace.events.name(tree.event[n]))) != nullptr)
      found.push_back(signatures->of(tree.event[n]));
  }
  return found;
}

std::vector<TensorShape> made_tensors(const OpSignatures& signatures, std::span<const std::uint32_t> allocations) {
  std::vector<TensorShape> made;
  for (const std::uint32_t id : allocations) {
    const OpCall& call = signatures.call(id);
    const Allocation* allocation = find_allocation(call.op);
    const auto sizes = integers_at(call, 0);
    if (allocation == nullptr || !sizes) continue;
    made.push_back({.sizes = *sizes, .strides = {}, .dtype = scalar_type(call, allocation->dtype_at, DType::unknown)});
  }
  return made;
}

}  // namespace ridge
