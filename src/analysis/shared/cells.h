// Values as cells: what is unknown becomes an empty one.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <ridge/report.h>

namespace ridge::cells {

inline Cell text(std::string_view value) { return value.empty() ? Cell() : Cell(std::string(value)); }
inline Cell integer(std::optional<std::int64_t> value) { return value ? Cell(*value) : Cell(); }
inline Cell number(std::optional<double> value) { return value && std::isfinite(*value) ? Cell(*value) : Cell(); }
inline Cell boolean(std::optional<bool> value) { return value ? Cell(*value) : Cell(); }
inline Cell ratio(double part, double whole) { return whole > 0 ? Cell(part / whole) : Cell(); }
inline Cell percent(std::int64_t part, std::int64_t whole) {
  return ratio(100.0 * static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace ridge::cells
