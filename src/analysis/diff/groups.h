// Groups: positions that links connect, on any number of traces, with a name that a person can follow.
#pragma once

#include <span>
#include <vector>

#include "analysis/diff/diff.h"

namespace ridge::diff {

// `links[t]` connects positions of typical iterations[0] with those of typical iterations[t]; links[0] is empty.
std::vector<Group> build_groups(std::span<const TypicalIteration> typical, std::span<const Links> links,
                                const Thresholds& thresholds);

}  // namespace ridge::diff
