// Flags that commands over many analyses (serve, report) hand on to each: whose peaks to use, how many iterations there are.
#pragma once

#include <span>
#include <vector>

#include <ridge/engine.h>

namespace ridge::cli {

// `own` and the flags that are handed on, as the analyses describe them.
std::vector<Parameter> with_analysis_defaults(std::span<const Parameter> own);

// The arguments that are handed on.
Arguments analysis_defaults(const Arguments& arguments, std::span<const Parameter> own);

}  // namespace ridge::cli
