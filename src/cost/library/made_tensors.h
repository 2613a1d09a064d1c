// The tensors that an op allocates as it runs: "aten::empty" and its like below it. Where an op's arguments do not tell its
// sizes, those of its buffers may.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/library/op_signatures.h"
#include "model/call_tree.h"
#include "ops/op_work.h"

namespace ridge {

// Whether the row's formula asks for them.
bool asks_for_made(const OpFormula& row);

// The calls below `owner` that allocate, in order, as signatures.
std::vector<std::uint32_t> allocations_under(const Trace& trace, const CallTree& tree, NodeId owner, OpSignatures* signatures);

// What they allocate; calls whose sizes are not told are left out.
std::vector<TensorShape> made_tensors(const OpSignatures& signatures, std::span<const std::uint32_t> allocations);

}  // namespace ridge
