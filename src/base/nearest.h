// "Did you mean": the names closest to a mistyped word. The same function is declared for clients in <ridge/engine.h>.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

// Up to three candidates closest to `word` by edit distance, nearest first, ties in the candidates' order.
// Names too far away to be meant are left out, so the answer may be empty.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean info or ops?"; empty when no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace ridge
