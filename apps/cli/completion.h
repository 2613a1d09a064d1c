// Scripts that complete commands and flags in a shell, derived from the catalog and the table of flags.
#pragma once

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

Result<int> run_completion(const Invocation& invocation);

}  // namespace ridge::cli
