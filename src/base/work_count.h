// Counts work where an input could make it grow faster than the input: in builds that test for it (sanitizers), and nothing
// elsewhere. So a test shows by a number, not by a clock, that nothing is quadratic.
#pragma once

#include <atomic>
#include <cstdint>

namespace ridge {

#if defined(RIDGE_COUNT_WORK)
inline constexpr bool kCountsWork = true;
#else
inline constexpr bool kCountsWork = false;
#endif

inline std::atomic<std::uint64_t> work_count = 0;  // steps of all threads, since the program started

inline void count_work(std::uint64_t steps) {
  if constexpr (kCountsWork) work_count.fetch_add(steps, std::memory_order_relaxed);
}

}  // namespace ridge
