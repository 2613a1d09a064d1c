// Which flags are handed on: those that change what is made of a trace, not what one analysis shows of it.
#include "analysis_defaults.h"

#include <algorithm>

namespace ridge::cli {
std::vector<Parameter> with_analysis_defaults(std::span<const Parameter> own) {
  std::vector<Parameter> all(own.begin(), own.end());
  for (const Changes what : {Changes::model, Changes::costs}) {
    for (const AnalysisInfo& analysis : analyses()) {
      for (const Parameter& parameter : analysis.parameters) {
        const bool new_one = std::ranges::find(all, parameter.name, &Parameter::name) == all.end();
        if (parameter.changes == what && new_one) all.push_back(parameter);
      }
    }
  }
  return all;
}

Arguments analysis_defaults(const Arguments& arguments, std::span<const Parameter> own) {
  Arguments handed_on;
  for (const auto& [name, value] : arguments) {
    if (std::ranges::find(own, name, &Parameter::name) == own.end()) handed_on[name] = value;
  }
  return handed_on;
}

}  // namespace ridge::cli
