// Runs one analysis of the catalog: open the traces, ask, sort and cut, render, write.
#pragma once

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

// The exit code. The answer goes to standard output or to the file of -o, warnings to standard error.
Result<int> run_analysis(const Invocation& invocation);

}  // namespace ridge::cli
