// What a trace may leave out of a call: why no script can be made of it, and what a script has to make up.
#pragma once

#include <string>

#include "kernel_names/category.h"
#include "ops/op_call.h"

namespace ridge {

// Why the recorded inputs are not enough to make the call, with what to record; empty where they are.
std::string missing_inputs(const OpCall& call, bool triton);

// The same of a kernel that a CUDA graph replayed, by what its name tells of it. `has_capture`: one was given, and does not
// tell it.
std::string missing_of_graph(Category category, bool has_capture);

// What a script makes up that may change the work: strides, values that decide it. Empty where it is nothing.
std::string made_up_inputs(const OpCall& call, bool triton);

}  // namespace ridge
