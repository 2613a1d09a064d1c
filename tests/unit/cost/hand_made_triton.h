// Launches of generated kernels written by hand: arguments as a trace has them, and the cost that follows.
#pragma once

#include <optional>
#include <string>

#include "cost/triton/triton_cost.h"

namespace ridge::test {

inline constexpr double kMi = 1024.0 * 1024.0;

// A launch whose texts live as long as it does.
struct TritonCall {
  std::string op, dims, types, concrete, strides = "[]", kwargs = "XBLOCK=1024", source = {};
  std::optional<double> num_gb = {}, flop = {};
  std::optional<Dim3> grid = {};

  LaunchCost cost() const {
    const OpCall call = parse_op_call(op, dims, types, strides, concrete);
    TritonLaunch launch;
    launch.kernel = op;
    launch.call = &call;
    launch.kernel_kwargs = kwargs;
    launch.kernel_num_gb = num_gb;
    launch.kernel_flop = flop;
    launch.grid = grid;
    if (!source.empty()) launch.source = &source;
    return triton_cost(launch);
  }
};

}  // namespace ridge::test
