// What is impossible about a call that someone wrote down: sizes that do not fit each other, types that do not exist. A trace's
// calls have run, so that nobody asks this of them.
#pragma once

#include <optional>
#include <string>

#include "ops/op_call.h"

namespace ridge {

// What is wrong, in words; nothing where the call can be.
std::optional<std::string> impossible(const OpCall& call);

}  // namespace ridge
