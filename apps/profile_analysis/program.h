// The drop-in as a function: for its own program and for the command of the Python package.
#pragma once

#include <string>
#include <vector>

namespace ridge::profile_analysis {

// The exit code. Takes over signals.
int run_program(const std::vector<std::string>& args);

}  // namespace ridge::profile_analysis
