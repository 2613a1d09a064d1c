// The times that a trace may hold, in ns. Narrower than int64, so that no sum or difference of two of them overflows: a time
// and a duration end before 2^62 + 2^61, and from the earliest start to there it is less than 2^63.
#pragma once

#include <cstdint>

namespace ridge {

inline constexpr std::int64_t kLatestTimeNs = std::int64_t{1} << 62;       // 146 years after 0
inline constexpr std::int64_t kEarliestTimeNs = -(std::int64_t{1} << 60);  // 36 years before
inline constexpr std::int64_t kLongestDurationNs = std::int64_t{1} << 61;

// Where all activity is at least a day from time 0, an event at 0 is a stray: its time was never written.
inline constexpr std::int64_t kFarFromZeroNs = std::int64_t{86400} * 1'000'000'000;

}  // namespace ridge
