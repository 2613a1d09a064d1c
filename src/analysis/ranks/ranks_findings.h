// The findings of all ranks of a job in one table, and ranks as people list them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ridge/table.h>

#include "analysis/ranks/ranks.h"

namespace ridge {

// "0-3", "0, 4, 8".
std::string listed_for_people(const std::vector<std::int64_t>& ranks);

// Each finding once, with the ranks that it holds for; of digests that know theirs.
Table findings_of_ranks(const Ranks& found);

}  // namespace ridge
