// Standard output and standard error, written without buffers, so that a failed write is known where it happens.
#pragma once

#include <string_view>

#include <ridge/result.h>

namespace ridge::cli {

// A reader that has gone away (a closed pipe) is no error: it has seen what it wanted.
Result<void> write_standard_output(std::string_view text);

// Best effort: there is nowhere to tell of a failure.
void write_standard_error(std::string_view text);

}  // namespace ridge::cli
