// Noise: what a number of observations says about a mean, and whether the change between two means is more than chance.
#pragma once

#include <cstdint>
#include <optional>

namespace ridge::diff {

// Mean and variance of what was observed, value by value. Values that were not seen count as 0.
struct Observations {
  std::int64_t count = 0;
  double sum = 0;
  double sum_of_squares = 0;

  void add(double value) {
    ++count;
    sum += value;
    sum_of_squares += value * value;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  double variance() const;  // of the population they are a sample of; 0 for fewer than two
};

struct Interval95 {
  double low = 0;
  double high = 0;
  bool excludes_zero() const { return low > 0 || high < 0; }
};

// With fewer observations than this on a side their scatter says nothing, and there is no interval.
inline constexpr std::int64_t kEnoughObservations = 3;

// Of mean_b - mean_a, by Welch: variances may differ. A group's mean and variance are sums over its members.
struct MeanVariance {
  std::int64_t count = 0;  // observations
  double mean = 0;
  double variance = 0;
};
std::optional<Interval95> interval_of_change(const MeanVariance& a, const MeanVariance& b);

// What counts as changed.
struct Thresholds {
  double relative_pct = 5;
  double absolute_ns = 1000;
};

bool is_changed(double time_a_ns, double time_b_ns, const std::optional<Interval95>& interval, const Thresholds& thresholds);

}  // namespace ridge::diff
