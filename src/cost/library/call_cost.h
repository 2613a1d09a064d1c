// The cost of each launch of one op call: which part of the op each kernel does, told from its name, its grid and its place
// among the others, and what that part must compute and move. Pure; calls with equal arguments and equal launches have equal
// costs.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/launch_cost.h"
#include "cost/roof/device_limits.h"
#include "kernel_names/kernel_facts.h"
#include "kernel_names/kernel_role.h"
#include "ops/op_work.h"
#include "trace/args.h"

namespace ridge {

struct CallLaunch {
  std::string_view kernel;
  const KernelFacts* facts = nullptr;
  std::optional<Dim3> grid, block;
};

struct CallContext {
  bool tf32 = false;                   // --tf32
  DType dtype = DType::unknown;        // --dtype
  std::span<const double> parameters;  // sizes of the model's parameters, for lists that the trace left out
  DeviceLimits device = {};
  std::span<const TensorShape> made = {};  // what the call allocates as it runs, for experts whose weights are no argument
  ServerTokens tokens = {};                // of the server's step that the launches belong to, for attention over pages
};

// In launch order. One cost per launch.
std::vector<LaunchCost> call_costs(const OpFormula& row, const OpCall& call, std::span<const CallLaunch> launches,
                                   const CallContext& context);

}  // namespace ridge
