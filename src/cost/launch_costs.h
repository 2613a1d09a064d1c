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
#include "kernel_names/category.h"
#include "model/model.h"
#include "ops/op_call.h"

namespace ridge {

// One of the distinct op calls: its launches' costs stand together, in launch order.
struct CostedCall {
  OpCall call;  // lists that the trace left out are filled in where the model's parameters tell their sizes
  std::uint32_t first_cost = 0, launches = 0;
};

// One of the distinct launches of a kernel that Triton compiled and no op of a library owns.
struct CostedKernel {
  std::string_view name;
  std::uint32_t cost = 0;
  Category category = Category::other;
  double blocks = 0, threads = 0;  // of the grid, of a block; 0: not told
};

struct LaunchCosts {
  std::vector<LaunchCost> costs;      // distinct ones; the first is that of which nothing is known
  std::vector<std::uint32_t> of_row;  // by row of trace.of(EventClass::device_work)
  std::vector<CostedCall> calls;
  std::vector<CostedKernel> kernels;

  const LaunchCost& operator[](std::size_t row) const { return costs[of_row[row]]; }
};

LaunchCosts build_launch_costs(const Model& model, const CostOptions& options);

}  // namespace ridge
