// Parameters that may be given several times: their values are a list. Arguments hold one text per name, in which the values
// stand apart by a character that no value holds; a value may hold commas.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/analysis.h>

namespace ridge {

inline constexpr char kListSeparator = '\x1F';  // ASCII's unit separator

// The values of a parameter in the order in which they were given; none when it was not.
inline std::vector<std::string_view> listed(const Arguments& arguments, std::string_view name) {
  std::vector<std::string_view> values;
  const auto given = arguments.find(name);
  if (given == arguments.end()) return values;
  const std::string_view text = given->second;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(kListSeparator, from), text.size());
    if (end > from) values.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return values;
}

// One more value of a parameter.
inline void add_to_list(Arguments& arguments, const std::string& name, std::string_view value) {
  std::string& text = arguments[name];
  if (!text.empty()) text += kListSeparator;
  text += value;
}

}  // namespace ridge
