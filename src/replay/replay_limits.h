// What a trace may leave out of a call: why no script can be made of it, and what a script has to make up.
#pragma once

#include <string>

#include "ops/op_call.h"

namespace ridge {

// Why the recorded inputs are not enough to make the call, with what to record; empty where they are.
std::string missing_inputs(const OpCall& call, bool triton);

// What a script makes up that may change the work: strides, values that decide it. Empty where it is nothing.
std::string made_up_inputs(const OpCall& call, bool triton);

}  // namespace ridge
