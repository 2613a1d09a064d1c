// What the command line can be asked: the engine's analyses and the few commands of the CLI itself, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/engine.h>

namespace ridge::cli {

const AnalysisInfo* find_analysis(std::string_view name);  // null: there is none

bool is_command(std::string_view name);
std::vector<std::string_view> command_names();  // analyses first

// The command that `ridge TRACE` stands for.
std::string_view default_command();

// "--strict" for the parameter "strict", "--by-name" for "by_name".
std::string flag_of(const Parameter& parameter);

// Every flag that the analysis understands, short and long ones; only the common ones for null.
std::vector<std::string> flag_names(const AnalysisInfo* analysis);

}  // namespace ridge::cli
