// What of a diff is listed: with --filter the groups in which a name matches, in any of the traces, and the time that they
// take.
#pragma once

#include "analysis/diff/diff.h"

namespace ridge::diff {

// A group is kept whole: what stands for one another is compared, also where only one side bears the name.
void keep_matching_groups(const Scope& scope, std::span<const TypicalIteration> typical, Diff& diff);

// Sides and groups must be complete.
void add_listed_time(std::span<const TypicalIteration> typical, Diff& diff);

}  // namespace ridge::diff
