// Which flags are handed on: those that change what is made of a trace or which part of it is looked at, not what one analysis
// shows of it.
#include "analysis_defaults.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ridge::cli {
std::vector<Parameter> with_analysis_defaults(std::span<const Parameter> own) {
  std::vector<Parameter> all(own.begin(), own.end());
  for (const Changes what : {Changes::scope, Changes::model, Changes::costs}) {
    for (const AnalysisInfo& analysis : analyses()) {
      for (const Parameter& parameter : analysis.parameters) {
        const bool new_one = std::ranges::find(all, parameter.name, &Parameter::name) == all.end();
        const bool names = parameter.name == "filter";  // what a page looks for is said on the page
        if (parameter.changes == what && new_one && !names) all.push_back(parameter);
      }
    }
  }
  return all;
}

Result<void> check_scope(const Engine& engine, const Arguments& arguments) {
  constexpr std::array<std::string_view, 4> kScope = {"step", "from", "to", "gpu"};
  if (std::ranges::none_of(kScope, [&](std::string_view name) { return arguments.contains(name); })) return {};
  for (std::size_t i = 0; i < engine.trace_count(); ++i) {
    const auto asked = engine.kept_report("gpu", arguments, i);
    if (!asked) return tl::unexpected(asked.error());
  }
  return {};
}

Arguments analysis_defaults(const Arguments& arguments, std::span<const Parameter> own) {
  Arguments handed_on;
  for (const auto& [name, value] : arguments) {
    if (std::ranges::find(own, name, &Parameter::name) == own.end()) handed_on[name] = value;
  }
  return handed_on;
}

}  // namespace ridge::cli
