// The median: of an even number of values the mean of the two in the middle, rounded down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ridge {

// `values` must not be empty.
inline std::int64_t median(std::vector<std::int64_t> values) {
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  const std::int64_t lower = *std::max_element(values.begin(), upper);
  return lower + (*upper - lower) / 2;
}

}  // namespace ridge
