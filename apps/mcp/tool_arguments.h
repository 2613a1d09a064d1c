// The arguments of a call, checked against the tool's row: names, types, sizes. Nothing is repaired but what models often do: a
// number in quotes, one text where a list is wanted.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "answer.h"
#include "json_value.h"
#include "tool_table.h"

namespace ridge::mcp {

struct ToolArguments {
  std::vector<std::string> traces;  // as given
  std::string capture;              // empty: none
  Arguments own;                    // of the tool's own parameters, in the form that the engine takes
  Wanted wanted;
  // All but `table` and `offset`, in their order, as JSON.
  std::vector<std::pair<std::string, std::string>> repeated;

  std::optional<std::int64_t> integer(std::string_view name) const;
  std::string text(std::string_view name) const;  // empty: not given
};

// `given`: the object of the call, null where there is none.
Result<ToolArguments> read_tool_arguments(const Tool& tool, const JsonValue* given);

}  // namespace ridge::mcp
