// The command line as a function: for its own program and for the `ridge` command of the Python package.
#pragma once

#include <string>
#include <vector>

namespace ridge::cli {

// The exit code. Takes over signals and tunes the allocator: it has the process for itself, which ends with it.
int run_program(const std::vector<std::string>& args);

}  // namespace ridge::cli
