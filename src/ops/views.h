// Ops that make no new tensor but show another's elements in another shape: what shapes their results have.
#pragma once

#include <string_view>
#include <vector>

#include "ops/op_call.h"

namespace ridge {

bool is_view(std::string_view op);  // "aten::transpose"

// The shapes of what a view of the call's first tensor gives, in order; sizes and type alone. Where the constants are not
// recorded, or make no sense, one result of the tensor's own shape.
std::vector<TensorShape> viewed(const OpCall& call);

}  // namespace ridge
