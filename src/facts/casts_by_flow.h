// Casts of parameters in a trace without shapes, by the types that kernels' names tell.
//
// A step that makes no wide floating-point tensor, and yet casts from a wide type to a narrow one again and again, casts what
// was there before it: parameters, or its input. The first cast of a step may be of the input; those behind it, right before
// the products that take them, are of parameters. Where any other kernel of the step may write the wide type nothing is told
// that way.
//
// Autocast casts the arguments of a layer inside its op, in their order: input, weight, bias. Where the product adds a bias the
// last two casts are the parameters'; without a bias the second of two is.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/scope.h"

namespace ridge {

// Rows of trace.of(device_work), ascending, of a program that only infers; empty unless several iterations show the same.
std::vector<std::uint32_t> weight_casts_by_flow(const Scope& scope);

}  // namespace ridge
