// A curve over time with a bounded number of points that still shows every peak worth seeing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ridge {

using CurvePoint = std::pair<std::int64_t, double>;  // (time in ns, value from then on)

inline constexpr std::size_t kCurvePoints = 2000;

// At most about `most` points: the time is cut into equal parts, and each keeps its lowest and its highest point. The first and
// the last point stay. `points` ascend in time; so does the result.
std::vector<CurvePoint> thin_curve(const std::vector<CurvePoint>& points, std::size_t most = kCurvePoints);

}  // namespace ridge
