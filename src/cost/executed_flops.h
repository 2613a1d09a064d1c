// ExecutedFlops: what kernels execute whose algorithm has other arithmetic than the op's definition. FLOPs are counted by the
// definition; percents of peak and roofs are of what is executed, as no device exceeds its peak.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "cost/launch_costs.h"

namespace ridge {

struct ExecutedFlops {
  // By index into LaunchCosts::costs, those alone that differ; nothing: how much it executes is not told.
  std::unordered_map<std::uint32_t, std::optional<double>> of_cost;
};

ExecutedFlops build_executed_flops(const Model& model, const LaunchCosts& costs);

}  // namespace ridge
