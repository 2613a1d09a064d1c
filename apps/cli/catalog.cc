// Lookups over the engine's analyses and the CLI's own commands, and a parameter spelled as a flag.
#include "catalog.h"

#include <algorithm>
#include <cctype>

#include "commands.h"
#include "flags.h"

namespace ridge::cli {

const AnalysisInfo* find_analysis(std::string_view name) {
  const auto all = analyses();
  const auto found = std::ranges::find(all, name, &AnalysisInfo::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<const AnalysisInfo*> described() {
  static const std::vector<AnalysisInfo> own = [] {
    std::vector<AnalysisInfo> all;
    for (const Command& command : commands()) {
      if (command.parameters != nullptr) all.push_back({command.name, command.description, command.parameters()});
    }
    return all;
  }();
  std::vector<const AnalysisInfo*> all;
  for (const AnalysisInfo& analysis : analyses()) all.push_back(&analysis);
  for (const AnalysisInfo& command : own) all.push_back(&command);
  return all;
}

const AnalysisInfo* describe(std::string_view name) {
  const auto all = described();
  const auto found = std::ranges::find(all, name, [](const AnalysisInfo* info) { return info->name; });
  return found == all.end() ? nullptr : *found;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const AnalysisInfo& analysis : analyses()) names.push_back(analysis.name);
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

bool is_command(std::string_view name) {
  const auto names = command_names();
  return std::ranges::find(names, name) != names.end();
}

std::string_view default_command() { return find_analysis("summary") != nullptr ? "summary" : "info"; }

std::string flag_of(const Parameter& parameter) {
  std::string flag = "--" + std::string(parameter.name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

bool operand_is_last(const AnalysisInfo& analysis) { return analysis.operand == "query"; }

std::string operand_of(const AnalysisInfo& analysis, std::string_view before, std::string_view after) {
  if (analysis.operand.empty()) return {};
  std::string name(analysis.operand);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::string(before) + name + std::string(after);
}

std::vector<std::string> flag_names(const AnalysisInfo* analysis) {
  std::vector<std::string> names;
  if (analysis != nullptr) {
    for (const Parameter& parameter : analysis->parameters) names.push_back(flag_of(parameter));
  }
  for (const Flag& flag : flags()) {
    const std::size_t comma = flag.names.find(',');
    names.emplace_back(flag.names.substr(0, comma));
    if (comma != std::string_view::npos) names.emplace_back(flag.names.substr(comma + 1));
  }
  return names;
}

}  // namespace ridge::cli
