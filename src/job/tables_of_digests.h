// The content of digests as tables, one row for each thing that they hold; times by each rank's own clock.
#pragma once

#include <span>
#include <vector>

#include <ridge/table.h>

#include "job/digest.h"

namespace ridge {

std::vector<Table> tables_of_digests(std::span<const Digest> digests);

}  // namespace ridge
