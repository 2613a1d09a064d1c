// LaunchCosts: the cost of every kernel, copy and set of a trace.
//
// A kernel's op is the innermost op around its launch that has a formula; where the innermost has none, the next one outside
// that has. All launches of one op call are looked at together, so that the op is counted once and each kernel has its own
// part. Calls with equal arguments and equal launches (name, grid, block) are worked out once: a million launches have a few
// hundred different calls.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/cost_model.h"
#include "cost/launch_cost.h"
#include "model/model.h"

namespace ridge {

struct LaunchCosts {
  std::vector<LaunchCost> costs;      // distinct ones; the first is that of which nothing is known
  std::vector<std::uint32_t> of_row;  // by row of trace.of(EventClass::device_work)

  const LaunchCost& operator[](std::size_t row) const { return costs[of_row[row]]; }
};

LaunchCosts build_launch_costs(const Model& model, const CostOptions& options);

}  // namespace ridge
