// ridge bench: hands over to the Python files that run kernels alone on the GPU (python/ridge/bench).
#pragma once

#include <span>

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

std::span<const Parameter> bench_parameters();

// Returns only if Python could not be started.
Result<int> run_bench(const Invocation& invocation);

}  // namespace ridge::cli
