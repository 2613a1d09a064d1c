// Sums of durations and bytes. The reader bounds each duration of a trace, but nothing bounds a sum over millions of them that
// overlap, or over many devices: such a sum stops at the ends of int64 in place of wrapping around. One comparison more than a
// plain addition.
#pragma once

#include <cstdint>
#include <limits>

namespace ridge {

inline void saturating_add(std::int64_t* sum, std::int64_t more) {
  if (__builtin_add_overflow(*sum, more, sum)) {
    *sum = more < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
}

}  // namespace ridge
