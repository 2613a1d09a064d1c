// Edit distance with swaps; a word cut short counts as one slip.
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>

namespace ridge {
namespace {

constexpr std::size_t kMostNames = 3;
constexpr std::size_t kLongestWord = 64;  // nobody mistypes more than this; keeps the quadratic distance cheap
constexpr std::size_t kShortestPrefix = 2;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Damerau-Levenshtein, the optimal string alignment form: insert, delete, replace, swap two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, last[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

// A word cut short ("kern" for "kernels") is as likely as one slip of a finger, however many letters are missing.
bool is_beginning(std::string_view word, std::string_view name) {
  return word.size() >= kShortestPrefix && name.starts_with(word);
}

struct Candidate {
  std::size_t distance;
  std::string_view name;
};

}  // namespace

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string wanted = lowered(word);
  std::vector<Candidate> near;
  for (std::string_view name : candidates) {
    if (name.size() > kLongestWord) continue;
    const std::string folded = lowered(name);
    const std::size_t distance =
        is_beginning(wanted, folded) ? std::min<std::size_t>(1, folded.size() - wanted.size()) : edit_distance(wanted, folded);
    // One slip in every three letters: "inof" for "info" is one, "xyz" for "ops" is not a slip.
    if (distance <= std::max(wanted.size(), folded.size()) / 3) near.push_back({distance, name});
  }
  std::ranges::stable_sort(near, {}, &Candidate::distance);
  std::vector<std::string> names;
  for (const Candidate& candidate : near) {
    if (names.size() < kMostNames && std::ranges::find(names, candidate.name) == names.end())
      names.emplace_back(candidate.name);
  }
  return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::vector<std::string> names = nearest_names(word, candidates);
  if (names.empty()) return {};
  std::string text = "did you mean " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text + "?";
}

}  // namespace ridge
