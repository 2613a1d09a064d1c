// Pairs of numbers in names of kernels.
#include "kernel_names/tile_in_name.h"

#include <algorithm>

namespace ridge {

std::pair<double, double> tile_in_name(std::string_view name, std::size_t mark) {
  const auto number = [&](std::size_t* at) {
    double value = 0;
    for (; *at < name.size() && name[*at] >= '0' && name[*at] <= '9'; ++*at) value = 10 * value + (name[*at] - '0');
    return value;
  };
  for (std::size_t at = name.find('_', std::min(mark, name.size())); at != std::string_view::npos;
       at = name.find('_', at + 1)) {
    std::size_t end = at + 1;
    const double m = number(&end);
    if (m <= 0 || m > 1024 || end >= name.size() || name[end] != 'x') continue;
    const double n = number(&++end);
    if (n > 0 && n <= 1024) return {m, n};
  }
  return {0, 0};
}

std::optional<std::pair<double, double>> first_tile(std::string_view name) {
  for (std::size_t x = name.find('x'); x != name.npos; x = name.find('x', x + 1)) {
    std::size_t from = x, to = x + 1;
    while (from > 0 && name[from - 1] >= '0' && name[from - 1] <= '9' && x - from < 4) --from;
    while (to < name.size() && name[to] >= '0' && name[to] <= '9' && to - x <= 4) ++to;
    double a = 0, b = 0;
    for (std::size_t i = from; i < x; ++i) a = a * 10 + (name[i] - '0');
    for (std::size_t i = x + 1; i < to; ++i) b = b * 10 + (name[i] - '0');
    if (a >= 16 && b >= 16) return std::pair(a, b);
  }
  return std::nullopt;
}

}  // namespace ridge
