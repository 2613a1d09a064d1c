// A parameter that takes one of a few words, like --by.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "base/nearest.h"

namespace ridge {

// The index of the word that was given; nothing when the parameter was not; an error that lists the words when it is none of
// them.
inline Result<std::optional<std::size_t>> choice(const Arguments& arguments, std::string_view parameter,
                                                 std::span<const std::string_view> words) {
  const auto it = arguments.find(parameter);
  if (it == arguments.end()) return std::optional<std::size_t>();
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == it->second) return std::optional(i);
    list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  }
  return fail(ErrorCode::usage, "--" + std::string(parameter) + " takes " + list + ", not '" + it->second + "'", "",
              did_you_mean(it->second, words));
}

}  // namespace ridge
