// Ops that allocate. Where the arguments of an op do not tell its sizes, the buffers that it makes as it runs may.
#pragma once

#include <optional>
#include <string_view>

#include "ops/op_work.h"

namespace ridge {

// Whether a formula wants to know what its op allocates.
bool asks_for_allocations(const OpFormula& row);

bool is_allocation(std::string_view op);  // "aten::empty"
// What a call of such an op makes; nothing where its sizes are not told.
std::optional<TensorShape> allocated(const OpCall& call);

}  // namespace ridge
