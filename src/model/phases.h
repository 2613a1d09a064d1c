// Phase of a slice of a host thread: does it belong to the forward pass, the backward pass, or the optimizer?
//
// Each slice has the phase of the slice around it, unless it says better: an Optimizer.* annotation or a fused optimizer op
// begins `optimizer`; an autograd::engine::evaluate_function, a *Backward op, or an op with a forward thread of its own begins
// `backward`. What nothing says anything of is `forward`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

enum class Phase : std::uint8_t { forward, backward, optimizer };
inline constexpr std::size_t kPhases = 3;

std::string_view name_of(Phase phase);

// By node.
std::vector<Phase> build_phases(const Trace& trace, const CallTree& tree);

}  // namespace ridge
