// Totals of one trace per iteration: device time by category, wall time, idle time by cause, launches, FLOP/s and bandwidth.
#pragma once

#include "analysis/diff/diff.h"

namespace ridge::diff {

SideTotals compute_totals(const Scope& scope, const Template& iteration);

// Graph breaks of all traces, those that differ and those that do not.
std::vector<BreakChange> compare_breaks(std::span<const Scope> scopes, std::span<const Template> templates);

}  // namespace ridge::diff
