// Casts of parameters that a program makes again and again: of weights and biases to the narrower type in which products take
// them.
//
// A trace has no names of tensors. A parameter is known by its shape: the second factor of a forward product, or the bias, in
// the type that was cast to. A product whose rows are as many as one of the weight's sizes tells nothing: its factors may be
// confused. Whether a cast is one too many is told by
//  - a program that only infers: its parameters never change, so that a cast in each of several iterations is the same one;
//  - a program that trains: autograd adds up one gradient for each parameter (AccumulateGrad), so that what is cast more often
//    than that in one iteration is cast again at another use. Once a step is what autocast does, and needed. Casts of the
//    backward pass recompute what was not kept, by choice, and do not count.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/program_kind.h"
#include "facts/scope.h"

namespace ridge {

// Rows of trace.of(device_work) whose casts could be spared, in ascending order. Without recorded shapes by what
// kernels' names tell (casts_by_flow.h).
std::vector<std::uint32_t> repeated_weight_casts(const Scope& scope, ProgramKind program);

}  // namespace ridge
