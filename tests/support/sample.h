// Samples of exhaustive tests: `make test` runs a part of the cases, drawn by a seed, and `make test-all` (RIDGE_TEST_ALL=1)
// the whole. RIDGE_TEST_SEED draws another sample; what fails in a sample tells its seed (SCOPED_TRACE(sample_note())).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/sanitized.h"

namespace ridge::test {

inline bool runs_all() {
  const char* const all = std::getenv("RIDGE_TEST_ALL");
  return all != nullptr && std::string(all) == "1";
}

inline std::uint64_t sample_seed() {
  const char* const seed = std::getenv("RIDGE_TEST_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
}

inline std::string sample_note() {
  return runs_all() ? "all cases" : "a sample: RIDGE_TEST_SEED=" + std::to_string(sample_seed()) + " draws it again";
}

// So many of the items, in their order; all of them in the whole run.
template <class Item>
std::vector<Item> sample(const std::vector<Item>& items, std::size_t count) {
  if (runs_all()) return items;
  std::vector<Item> drawn;
  std::mt19937_64 random(sample_seed());
  std::sample(items.begin(), items.end(), std::back_inserter(drawn), static_cast<std::ptrdiff_t>(count), random);
  return drawn;
}

// Numbers of [0, below): so many of them, a third of that under sanitizers.
inline std::vector<std::size_t> sampled_rounds(std::size_t below, std::size_t count) {
  std::vector<std::size_t> rounds(below);
  std::iota(rounds.begin(), rounds.end(), std::size_t{0});
  return sample(rounds, kSanitized ? count / 3 : count);
}

}  // namespace ridge::test
