// The engine's words for clients that give parameters by name, not as flags.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ridge {

// The engine speaks of flags, since most ask it from a command line: "--min-pct" is the parameter 'min_pct' here.
inline std::string with_parameter_names(std::string_view words) {
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    const bool begins = words.substr(at, 2) == "--" && (at == 0 || !is_name(words[at - 1]));
    std::size_t end = at + 2;
    while (begins && end < words.size() && is_name(words[end])) ++end;
    if (!begins || end == at + 2) {
      out += words[at++];
      continue;
    }
    std::string name(words.substr(at + 2, end - at - 2));
    std::ranges::replace(name, '-', '_');
    out += "'" + name + "'";
    at = end;
  }
  return out;
}

}  // namespace ridge
