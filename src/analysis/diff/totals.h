// Totals of one trace per iteration: device time by category, wall time, idle time by cause, launches, FLOP/s and bandwidth.
#pragma once

#include "analysis/diff/diff.h"

namespace ridge::diff {

// All but the device time, which add_device_time adds once it is known what sort of work each kernel is.
SideTotals compute_totals(const Scope& scope, const TypicalIteration& iteration);

void add_device_time(const TypicalIteration& iteration, SideTotals& out);

}  // namespace ridge::diff
