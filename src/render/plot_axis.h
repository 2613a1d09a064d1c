// A logarithmic axis of a plot: from which to which value, where a value lies on it, and which values are written beside it.
#pragma once

#include <string>
#include <vector>

#include <ridge/report.h>

namespace ridge::render {

class LogAxis {
 public:
  // Holds every positive, finite value, with some room; at most kMostDecades, the lowest values being left out.
  explicit LogAxis(const std::vector<double>& values);

  // 0 at the lower end, 1 at the upper one; outside of both for values beyond.
  double place(double value) const;
  // Powers of ten, or of a hundred and so on where there are too many.
  std::vector<double> ticks() const;

 private:
  static constexpr double kMostDecades = 15;
  double low_ = 0, high_ = 1;  // powers of ten
};

LogAxis x_axis(const Plot& plot);
LogAxis y_axis(const Plot& plot);

// "10 TFLOP/s", "0.1".
std::string tick_text(double value, const PlotAxis& axis);

}  // namespace ridge::render
