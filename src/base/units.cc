// The scales, and rounding that picks the unit after it rounds.
#include "base/units.h"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace ridge {
namespace {

struct Scale {
  double size;
  std::string_view name;
};

constexpr std::array kTime = {Scale{1, "ns"}, Scale{1e3, "us"}, Scale{1e6, "ms"}, Scale{1e9, "s"}};
constexpr std::array kBytes = {Scale{1, "B"},     Scale{1e3, "kB"},  Scale{1e6, "MB"}, Scale{1e9, "GB"},
                               Scale{1e12, "TB"}, Scale{1e15, "PB"}, Scale{1e18, "EB"}};
constexpr std::array kFlop = {Scale{1, "FLOP"},     Scale{1e3, "kFLOP"},  Scale{1e6, "MFLOP"}, Scale{1e9, "GFLOP"},
                              Scale{1e12, "TFLOP"}, Scale{1e15, "PFLOP"}, Scale{1e18, "EFLOP"}};

constexpr std::string_view kUnknown = "-";

// Decimals that leave three significant digits to a value below 1000.
int decimals_for_three_digits(double magnitude) {
  if (magnitude < 9.995) return 2;
  return magnitude < 99.95 ? 1 : 0;
}

// The largest scale at which the value is at least 1, judged after rounding: 999.9996 us is "1.000 ms", never "1000.000 us".
const Scale& scale_for(double magnitude, std::span<const Scale> scales, double relative_rounding) {
  std::size_t best = 0;
  while (best + 1 < scales.size() && magnitude >= scales[best + 1].size * (1 - relative_rounding)) ++best;
  return scales[best];
}

// Three significant digits; a whole number of the base unit has no decimals.
std::string format_scaled(double value, std::span<const Scale> scales, std::string_view suffix = {}) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  const Scale& scale = scale_for(std::abs(value), scales, 0.0005);
  const double shown = value / scale.size;
  const bool whole = scale.size == 1 && shown == std::floor(shown);
  return fmt::format("{:.{}f} {}{}", shown, whole ? 0 : decimals_for_three_digits(std::abs(shown)), scale.name, suffix);
}

std::string with_separators(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace

// Three decimals at every scale, so that a column of times lines up and no whole nanosecond below a millisecond is lost.
std::string format_duration(double ns) {
  if (!std::isfinite(ns)) return std::string(kUnknown);
  const Scale& scale = scale_for(std::abs(ns), kTime, 0.0000005);
  if (scale.size == 1) return fmt::format("{:.{}f} ns", ns, ns == std::floor(ns) ? 0 : 1);
  return fmt::format("{:.3f} {}", ns / scale.size, scale.name);
}

std::string format_bytes(double bytes) { return format_scaled(bytes, kBytes); }
std::string format_flop(double flop) { return format_scaled(flop, kFlop); }
std::string format_bytes_per_s(double bytes) { return format_scaled(bytes, kBytes, "/s"); }
std::string format_flop_per_s(double flop) { return format_scaled(flop, kFlop, "/s"); }

std::string format_percent(double percent) {
  return std::isfinite(percent) ? fmt::format("{:.1f} %", percent) : std::string(kUnknown);
}

std::string format_count(std::int64_t count) { return with_separators(fmt::format("{}", count)); }

std::string format_count(double count) {
  if (!std::isfinite(count)) return std::string(kUnknown);
  const std::string text = fmt::format("{:.1f}", count);
  const std::string whole = with_separators(text.substr(0, text.size() - 2));
  return text.ends_with(".0") ? whole : whole + text.substr(text.size() - 2);
}

std::string format_plain(double number) {
  if (!std::isfinite(number)) return std::string(kUnknown);
  const double magnitude = std::abs(number);
  return magnitude >= 1e4 && magnitude < 1e15 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

}  // namespace ridge
