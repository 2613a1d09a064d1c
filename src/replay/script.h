// The script of one call: a Python file that needs torch (and Triton) only. Its parts are a literal CALL that says what the
// trace says, the arguments as literals, and the files of runtime/ that make the inputs and run the call.
#pragma once

#include <string>

#include "replay/replay_call.h"
#include "replay/triton_source.h"

namespace ridge {

// Of a call with `cannot` empty that is not Triton's.
std::string op_script(const ReplayCall& call);

// Of a Triton kernel with its source, which was looked at (triton_source.h).
std::string triton_script(const ReplayCall& call, const TritonSource& source);

}  // namespace ridge
