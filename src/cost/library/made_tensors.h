// The tensors that an op of a trace allocates as it runs: "aten::empty" and its like below it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/library/op_signatures.h"
#include "model/call_tree.h"
#include "ops/op_call.h"

namespace ridge {

// The calls below `owner` that allocate, in order, as signatures.
std::vector<std::uint32_t> allocations_under(const Trace& trace, const CallTree& tree, NodeId owner, OpSignatures* signatures);

// What they allocate; calls whose sizes are not told are left out.
std::vector<TensorShape> made_tensors(const OpSignatures& signatures, std::span<const std::uint32_t> allocations);

}  // namespace ridge
