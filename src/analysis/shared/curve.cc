// Of each stretch of time the lowest and the highest point stay.
#include "analysis/shared/curve.h"

#include <algorithm>

namespace ridge {

std::vector<CurvePoint> thin_curve(const std::vector<CurvePoint>& points, std::size_t most) {
  if (points.size() <= most || most < 4) return points;
  const std::int64_t origin = points.front().first;
  const auto parts = static_cast<std::int64_t>(most / 2 - 1);
  const std::int64_t width = (points.back().first - origin) / parts + 1;
  std::vector<CurvePoint> kept{points.front()};
  for (std::size_t i = 1; i + 1 < points.size();) {
    const std::int64_t part = (points[i].first - origin) / width;
    std::size_t low = i, high = i;
    for (; i + 1 < points.size() && (points[i].first - origin) / width == part; ++i) {
      if (points[i].second < points[low].second) low = i;
      if (points[i].second > points[high].second) high = i;
    }
    kept.push_back(points[std::min(low, high)]);
    if (low != high) kept.push_back(points[std::max(low, high)]);
  }
  kept.push_back(points.back());
  return kept;
}

}  // namespace ridge
