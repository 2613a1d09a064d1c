// sort_runs: a sort for values that mostly come in order. Finds the runs that already ascend and merges neighbours: n
// log(runs).
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace ridge {

template <class T, class Before>
void sort_runs(std::vector<T>* values, Before before) {
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < values->size(); ++i) {
    if (before((*values)[i], (*values)[i - 1])) bounds.push_back(i);
  }
  bounds.push_back(values->size());
  if (bounds.size() > values->size() / 8 + 3) {  // hardly any order to be used
    std::stable_sort(values->begin(), values->end(), before);
    return;
  }
  std::vector<T> merged;
  while (bounds.size() > 2) {
    merged.clear();
    merged.reserve(values->size());
    std::vector<std::size_t> next{0};
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
      const auto at = [&](std::size_t b) {
        return values->begin() + static_cast<std::ptrdiff_t>(bounds[std::min(b, bounds.size() - 1)]);
      };
      std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), std::back_inserter(merged), before);
      next.push_back(merged.size());
    }
    values->swap(merged);
    bounds.swap(next);
  }
}

}  // namespace ridge
