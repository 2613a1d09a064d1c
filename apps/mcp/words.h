// The engine's words for agents: it speaks of flags and commands, since most ask it from a command line.
#pragma once

#include <string>
#include <string_view>

#include "tool_table.h"

namespace ridge::mcp {

// "--min-pct" is 'min_pct' where the tool takes it, and "ridge mcp --max-seconds" where only the user may give it, when the
// server is started; "ridge sql TRACE --tables" is "sql with 'tables'".
std::string in_words_of(const Tool& tool, std::string_view words);

}  // namespace ridge::mcp
