// ridge serve: the traces as a page on this machine, until a signal ends it.
#pragma once

#include <span>

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

std::span<const Parameter> serve_parameters();
Result<int> run_serve(const Invocation& invocation);

}  // namespace ridge::cli
