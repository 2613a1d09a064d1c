// Whether a digest can be worked with, whoever made it.
#pragma once

#include <cstdint>
#include <string_view>

#include "job/digest.h"

namespace ridge {

// No job records for longer. A lane is cut into pieces of seconds: one over the whole range of times would fill the memory.
inline constexpr std::int64_t kLongestWindowNs = std::int64_t{1} << 52;  // 52 days

// Nothing where times, counts and indexes are such that nothing overflows and nothing points outside; else what is wrong.
std::string_view unsound_part(const Digest& digest);

}  // namespace ridge
