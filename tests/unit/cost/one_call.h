// One op with one kernel, written by hand, and what that kernel costs.
#pragma once

#include <string>
#include <string_view>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge::test {

struct OneCall {
  std::string_view op, dims, types, constants = "[]", kernel = "some_kernel", grid = "[1024, 1, 1]";
};
inline LaunchCost cost_of_one(const OneCall& call) {
  const std::string args = "\"Input Dims\": " + std::string(call.dims) + ", \"Input type\": " + std::string(call.types) +
                           ", \"Concrete Inputs\": " + std::string(call.constants);
  const auto loaded =
      load_events(join({event({.name = call.op, .ts = 5, .dur = 500, .args = args}), launch(1, call.kernel, call.grid)}));
  return CostModel(*loaded.model, {})[0];
}

}  // namespace ridge::test
