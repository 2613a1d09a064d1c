// Whether a command's Python would ignore PYTHONPATH or sitecustomize, through which `ridge record` reaches it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <ridge/result.h>

namespace ridge::cli {

// The error to tell, for a command that is Python with -I, -E or -S, or a script whose first line says so. Of other commands
// nothing is known.
std::optional<Error> python_ignores_environment(std::span<const std::string> command);

}  // namespace ridge::cli
