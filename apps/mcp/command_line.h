// The command line that prints what a tool answered.
#pragma once

#include <string>
#include <string_view>

#include <ridge/analysis.h>

namespace ridge::mcp {

// A word as a POSIX shell takes it.
std::string shell_word(std::string_view text);

// "ridge kernels --by op --sort time TRACE"; `traces`: words, ready for the shell.
std::string command_line(std::string_view command, const Arguments& arguments, std::string_view sort, std::string_view traces);

}  // namespace ridge::mcp
