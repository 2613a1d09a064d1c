// Ticks at powers of ten, thinned out to eight or so.
#include "render/plot_axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ridge/render.h>

namespace ridge::render {
namespace {

constexpr double kRoom = 0.15;  // of a decade, at both ends
constexpr int kMostTicks = 8;

template <class Get>
LogAxis axis_of(const Plot& plot, Get get) {
  std::vector<double> values;
  for (const PlotPoint& point : plot.points) values.push_back(get(std::pair(point.x, point.y)));
  for (const PlotLine& line : plot.lines) {
    for (const auto& point : line.points) values.push_back(get(point));
  }
  return LogAxis(values);
}

}  // namespace

LogAxis::LogAxis(const std::vector<double>& values) {
  bool any = false;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    const double power = std::log10(value);
    low_ = any ? std::min(low_, power) : power;
    high_ = any ? std::max(high_, power) : power;
    any = true;
  }
  low_ = std::max(low_ - kRoom, high_ - kMostDecades);
  high_ += kRoom;
}

double LogAxis::place(double value) const { return (std::log10(value) - low_) / (high_ - low_); }

std::vector<double> LogAxis::ticks() const {
  const int first = static_cast<int>(std::ceil(low_)), last = static_cast<int>(std::floor(high_));
  const int step = std::max(1, (last - first) / kMostTicks + 1);
  std::vector<double> values;
  for (int power = first; power <= last; power += step) values.push_back(std::pow(10.0, power));
  return values;
}

LogAxis x_axis(const Plot& plot) {
  return axis_of(plot, [](const auto& point) { return point.first; });
}
LogAxis y_axis(const Plot& plot) {
  return axis_of(plot, [](const auto& point) { return point.second; });
}

// A power of ten has no digits behind the point.
std::string tick_text(double value, const PlotAxis& axis) {
  if (axis.unit == Unit::none) return fmt::format("{:g}", value);
  const std::string text = with_unit(value, axis.unit);
  const std::size_t point = text.find('.'), space = text.find(' ');
  return point < space ? text.substr(0, point) + text.substr(space) : text;
}

}  // namespace ridge::render
