// The table `iteration`: what one iteration takes, beside figures that are told per iteration.
#pragma once

#include <ridge/report.h>

#include "facts/iteration_time.h"

namespace ridge {

// One row: iterations, per, iteration_ns (the mean), median_iteration_ns.
Table iteration_table(const IterationTime& time);

}  // namespace ridge
