// What the command line can be asked: the engine's analyses and the few commands of the CLI itself, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/engine.h>

namespace ridge::cli {

const AnalysisInfo* find_analysis(std::string_view name);  // null: there is none

// Whatever has flags of its own: the analyses, then the commands that have some, in the same shape.
std::vector<const AnalysisInfo*> described();
const AnalysisInfo* describe(std::string_view name);  // null: no such command, or one without flags of its own

bool is_command(std::string_view name);
std::vector<std::string_view> command_names();  // analyses first

// The command that `ridge TRACE` stands for.
std::string_view default_command();

// "--strict" for the parameter "strict", "--by-name" for "by_name".
std::string flag_of(const Parameter& parameter);

// "NAME" for an analysis that takes its parameter `name` before the traces, between `before` and `after`; empty for the others.
std::string operand_of(const AnalysisInfo& analysis, std::string_view before, std::string_view after);

// Whether that parameter stands behind the trace: ridge sql TRACE QUERY.
bool operand_is_last(const AnalysisInfo& analysis);

// Every flag that the analysis understands, short and long ones; only the common ones for null.
std::vector<std::string> flag_names(const AnalysisInfo* analysis);

}  // namespace ridge::cli
