// The texts of `ridge help`, derived from the catalog and the table of flags.
#pragma once

#include <string>

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

Result<int> run_help(const Invocation& invocation);

// A few lines for a user who typed `ridge` and nothing else.
std::string short_help();

}  // namespace ridge::cli
