// ridge record -- COMMAND: becomes COMMAND, in an environment in which every Python process that imports torch records itself.
#pragma once

#include <span>

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

std::span<const Parameter> record_parameters();

// Returns only if the command could not be started.
Result<int> run_record(const Invocation& invocation);

}  // namespace ridge::cli
