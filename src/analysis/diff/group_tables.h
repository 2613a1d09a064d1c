// Tables whose rows are groups: what stands for one another, what only one trace has, what bears another name.
#pragma once

#include <cstddef>

#include <ridge/table.h>

#include "analysis/diff/diff.h"

namespace ridge::diff {

Table groups_table(const Diff& diff);

// Work that trace `t` has and the first lacks, or of the first any other: whole groups, and calls that the other makes in fewer
// iterations.
Table only_in_table(const Diff& diff, std::size_t t);

Table renamed_table(const Diff& diff);

}  // namespace ridge::diff
