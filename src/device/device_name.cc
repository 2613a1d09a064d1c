// Lower case, split at punctuation, vendor words dropped.
#include "device/device_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ridge {
namespace {

constexpr std::array<std::string_view, 14> kNoise = {"nvidia", "amd", "ati",  "intel",    "habana", "tesla", "geforce",
                                                     "quadro", "gpu", "data", "graphics", "center", "r",     "tm"};
constexpr std::array<std::string_view, 2> kLines = {"instinct", "radeon"};

bool is_noise(std::string_view word) { return std::ranges::count(kNoise, word) > 0 || std::ranges::count(kLines, word) > 0; }

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

void keep(std::string word, std::vector<std::string>* words) {
  if (word.size() == 4 && word.starts_with("sxm")) word.resize(3);
  if (!word.empty() && !is_noise(word)) words->push_back(std::move(word));
}

}  // namespace

std::vector<std::string> device_words(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (is_word_character(c)) {
      word += c;
    } else {
      keep(std::exchange(word, {}), &words);
    }
  }
  keep(std::move(word), &words);
  return words;
}

bool holds_all(const std::vector<std::string>& words, std::string_view wanted) {
  while (!wanted.empty()) {
    const std::size_t end = std::min(wanted.find(' '), wanted.size());
    if (std::ranges::count(words, wanted.substr(0, end)) == 0) return false;
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
  }
  return true;
}

}  // namespace ridge
