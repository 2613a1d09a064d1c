// Flags that commands over many analyses (serve, report) hand on to each: which part of the trace, whose peaks to use, how many
// iterations there are.
#pragma once

#include <span>
#include <vector>

#include <ridge/engine.h>

namespace ridge::cli {

// `own` and the flags that are handed on, as the analyses describe them.
std::vector<Parameter> with_analysis_defaults(std::span<const Parameter> own);

// The arguments that are handed on.
Arguments analysis_defaults(const Arguments& arguments, std::span<const Parameter> own);

// Whether each trace has the part that the arguments, as handed on, ask for: said before a page is opened that could show
// nothing.
Result<void> check_scope(const Engine& engine, const Arguments& arguments);

}  // namespace ridge::cli
