// What an op leaves to ops that it calls: a gradient's zeros, a copy of what does not lie as its kernel wants it, the copy that
// an op without an underscore writes into. In a trace those are calls of their own; who asks about an op alone asks about them
// too. Pure.
#pragma once

#include <optional>
#include <vector>

#include "ops/op_call.h"

namespace ridge::features {

struct InnerCalls {
  std::vector<OpCall> others;
  std::optional<OpCall> own;  // what is left to the op itself, on tensors as it gets them; nothing where it launches nothing
};

// Nothing for an op that does all of its work itself, or whose inner ops are not told apart.
std::optional<InnerCalls> inner_calls(const OpCall& call);

}  // namespace ridge::features
