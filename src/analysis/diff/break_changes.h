// Graph breaks of several traces: which are the same, which are new and which are gone.
//
// Lines move with every edit above them, and frames are numbered in the order in which they are compiled: neither tells for
// sure that a break is another one. Breaks pair in order, by their line, else by their function, else, where stacks are
// missing, by how deep they lie.
#pragma once

#include <span>
#include <vector>

#include "analysis/diff/diff.h"

namespace ridge::diff {

// Those that differ and those that do not; those of one place in one row, with all their reasons.
std::vector<BreakChange> compare_breaks(std::span<const Scope> scopes, std::span<const TypicalIteration> typical);

}  // namespace ridge::diff
