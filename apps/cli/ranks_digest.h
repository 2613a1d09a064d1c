// ridge ranks --digest OUT TRACE...: writes the digests of traces, and answers nothing.
#pragma once

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

// The exit code. What was written is said on standard error.
Result<int> write_digests_of(const Invocation& invocation);

}  // namespace ridge::cli
