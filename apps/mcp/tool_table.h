// The tools as data: one for each analysis of the catalog, and those of this server. Their list and the check of their
// arguments are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/analysis.h>

namespace ridge::mcp {

// Where the arguments of a tool come from.
enum class TraceArgument { none, one, several };

struct Tool {
  std::string_view name;
  std::string description;
  TraceArgument traces = TraceArgument::one;
  const AnalysisInfo* analysis = nullptr;  // null: a tool of this server
  std::vector<Parameter> parameters;       // but for the shared ones below
  std::vector<std::string_view> required;  // besides traces
  bool tells_rows = true;                  // takes kRowParameters
};

// In the order of the list: what to begin with first.
std::span<const Tool> tools();
const Tool* find_tool(std::string_view name);

// How to see the rows of an answer; every tool that answers in tables takes them.
std::span<const Parameter> row_parameters();

// The "tools" array of tools/list.
std::string tool_list_json();

}  // namespace ridge::mcp
