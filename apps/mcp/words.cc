// One pass over the words: commands and flags are found, the rest stays.
#include "words.h"

#include <algorithm>

namespace ridge::mcp {
namespace {

constexpr std::string_view kProgram = "ridge ", kFlag = "--";

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

std::string_view name_at(std::string_view words) {
  std::size_t end = 0;
  while (end < words.size() && is_name(words[end])) ++end;
  return words.substr(0, end);
}

bool takes(const Tool& tool, std::string_view name) {
  const auto named = [&](const Parameter& each) { return each.name == name; };
  return std::ranges::any_of(tool.parameters, named) || (tool.tells_rows && std::ranges::any_of(row_parameters(), named));
}

}  // namespace

std::string in_words_of(const Tool& tool, std::string_view words) {
  std::string out;
  const Tool* about = &tool;
  while (!words.empty()) {
    const bool begins = out.empty() || !is_name(out.back());
    if (begins && words.starts_with(kProgram)) {
      const std::string_view command = name_at(words.substr(kProgram.size()));
      if (const Tool* other = find_tool(command)) {
        out += command;
        about = other;
        words.remove_prefix(kProgram.size() + command.size());
        for (const std::string_view trace : {" TRACE", " trace.json"}) {
          if (words.starts_with(trace)) words.remove_prefix(trace.size());
        }
        if (words.substr(0, 3) == " --") out += " with";
        continue;
      }
    }
    if (begins && words.starts_with(kFlag)) {
      if (const std::string_view flag = name_at(words.substr(kFlag.size())); !flag.empty()) {
        std::string name(flag);
        std::ranges::replace(name, '-', '_');
        out += takes(*about, name) ? "'" + name + "'" : "ridge mcp --" + std::string(flag);
        about = &tool;
        words.remove_prefix(kFlag.size() + flag.size());
        continue;
      }
    }
    out += words.front();
    words.remove_prefix(1);
  }
  return out;
}

}  // namespace ridge::mcp
