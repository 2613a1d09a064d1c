// The columns of costs, the same in every table that has them: `kernels`, `kernel`, `ops`, ...
#pragma once

#include <vector>

#include <ridge/report.h>

#include "facts/cost_sum.h"

namespace ridge {

// The columns from `flops` to `estimate`, and their cells.
const std::vector<Column>& cost_columns();
void push_cost_cells(const CostSum& sum, Row* row);
// What such work takes, and how many times that it took. `time_ns`: of the whole group.
const std::vector<Column>& expected_columns();
void push_expected_cells(const KnownSum& expected, std::int64_t time_ns, Row* row);
// Those that say how much is known, and the causal part of attention.
const std::vector<Column>& coverage_columns();
void push_coverage_cells(const CostSum& cost, Row* row);

}  // namespace ridge
