// What an analysis is to a client: its name, one line, and its parameters as data. Help, completion, HTTP and bindings derive from it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <ridge/report.h>

namespace ridge {

struct Parameter {
  std::string_view name;  // "strict": the flag is --strict
  Type type;              // boolean: a switch
  std::string_view description;
};

struct AnalysisInfo {
  std::string_view name;
  std::string_view description;  // one line
  std::span<const Parameter> parameters;
};

using Arguments = std::map<std::string, std::string, std::less<>>;  // parameter name -> text; a switch is "true"

}  // namespace ridge
