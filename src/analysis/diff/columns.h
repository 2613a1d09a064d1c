// Columns of a diff's tables and their names: one for each trace, and for each change from the first to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <ridge/table.h>

#include "analysis/diff/diff.h"

namespace ridge::diff {

// Columns that every trace has: time_a_ns, time_b_ns, ...
inline void add_per_trace(Table& table, std::size_t traces, const std::string& stem, const std::string& suffix, Type type,
                          Unit unit) {
  for (std::size_t t = 0; t < traces; ++t) table.columns.push_back({stem + "_" + letter_of(t) + suffix, type, unit});
}

// Columns of a change: delta_ns with two traces, delta_b_ns, delta_c_ns, ... with more.
inline std::string change_name(std::size_t traces, std::size_t t, const std::string& stem, const std::string& suffix) {
  return traces == 2 ? stem + suffix : stem + "_" + letter_of(t) + suffix;
}

// Nothing where the first has no time.
inline Cell percent_of_change(std::int64_t a, std::int64_t b) {
  return a > 0 ? Cell(100.0 * static_cast<double>(b - a) / static_cast<double>(a)) : Cell();
}

}  // namespace ridge::diff
