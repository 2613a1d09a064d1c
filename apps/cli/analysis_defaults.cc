#include "analysis_defaults.h"

#include <algorithm>
#include <array>

namespace ridge::cli {
namespace {

constexpr std::array<std::string_view, 7> kHandedOn = {"runs",  "device", "device_file",   "clock_mhz",
                                                       "dtype", "tf32",   "inductor_cache"};

}  // namespace

std::vector<Parameter> with_analysis_defaults(std::span<const Parameter> own) {
  std::vector<Parameter> all(own.begin(), own.end());
  for (const std::string_view name : kHandedOn) {
    for (const AnalysisInfo& analysis : analyses()) {
      const auto found = std::ranges::find(analysis.parameters, name, &Parameter::name);
      if (found == analysis.parameters.end()) continue;
      all.push_back(*found);
      break;
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
