// Replaces this process by another command: exit code, signals, terminal and process id are then that command's own.
#pragma once

#include <string>
#include <vector>

#include <ridge/result.h>

namespace ridge::cli {

// Returns only if the command cannot be run; `why` is then the system's number for it.
Result<int> become(const std::vector<std::string>& words, int* why = nullptr);

}  // namespace ridge::cli
