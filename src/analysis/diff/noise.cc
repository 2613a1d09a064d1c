// Welch's interval with Student's t.
#include "analysis/diff/noise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ridge::diff {
namespace {

// Two-sided 95 % points of Student's t by degrees of freedom, from its tables.
double student_t95(double degrees) {
  constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                               2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (!(degrees >= 1)) return kTable[0];
  const auto whole = static_cast<std::size_t>(std::min(degrees, 1e9));
  return whole <= std::size(kTable) ? kTable[whole - 1] : 1.96 + 2.4 / degrees;
}

}  // namespace

double Observations::variance() const {
  if (count < 2) return 0;
  const auto n = static_cast<double>(count);
  return std::max(0.0, (sum_of_squares - sum * sum / n) / (n - 1));
}

std::optional<Interval95> interval_of_change(const MeanVariance& a, const MeanVariance& b) {
  if (a.count < kEnoughObservations || b.count < kEnoughObservations) return std::nullopt;
  const double va = a.variance / static_cast<double>(a.count), vb = b.variance / static_cast<double>(b.count);
  const double change = b.mean - a.mean;
  const double squares = va * va / static_cast<double>(a.count - 1) + vb * vb / static_cast<double>(b.count - 1);
  const double degrees = squares > 0 ? (va + vb) * (va + vb) / squares : std::numeric_limits<double>::infinity();
  const double half = va + vb > 0 ? student_t95(degrees) * std::sqrt(va + vb) : 0;
  return Interval95{change - half, change + half};
}

bool is_changed(double time_a_ns, double time_b_ns, const std::optional<Interval95>& interval, const Thresholds& thresholds) {
  const double change = std::abs(time_b_ns - time_a_ns);
  if (change <= thresholds.absolute_ns || change * 100 <= thresholds.relative_pct * time_a_ns) return false;
  return !interval || interval->excludes_zero();
}

}  // namespace ridge::diff
