// The file that -o names: written beside its place and renamed when whole, so that nobody ever sees half of it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

namespace ridge::cli {

// Refuses an output that is one of the inputs, or lies where no file can be made. Asked before a trace is read.
Result<void> check_output(const std::string& path, std::span<const std::string> inputs);

Result<void> write_output_file(const std::string& path, std::string_view text);

}  // namespace ridge::cli
