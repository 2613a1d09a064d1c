// ridge show ANSWER: prints an answer that was saved as JSON, in any format.
#pragma once

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

Result<int> run_show(const Invocation& invocation);

}  // namespace ridge::cli
