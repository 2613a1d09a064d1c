// Whether a digest can be worked with, whoever made it.
#pragma once

#include <string_view>

#include "job/digest.h"

namespace ridge {

// Nothing where times, counts and indexes are such that nothing overflows and nothing points outside; else what is wrong.
std::string_view unsound_part(const Digest& digest);

}  // namespace ridge
