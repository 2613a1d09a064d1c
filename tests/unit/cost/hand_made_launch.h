// Launches written by hand under one op: the launch call and its kernel, as a trace has them.
#pragma once

#include <string>
#include <string_view>

#include "support/loaded_trace.h"

namespace ridge::test {

inline std::string launch(int correlation, std::string_view kernel, std::string_view grid,
                          std::string_view block = "[128, 1, 1]") {
  const std::string id = std::to_string(correlation);
  return join({event({.name = "cudaLaunchKernel",
                      .ts = 10 + correlation,
                      .dur = 1,
                      .cat = "cuda_runtime",
                      .args = "\"correlation\": " + id}),
               event({.name = kernel,
                      .ts = 1000 + 10 * correlation,
                      .dur = 5,
                      .cat = "kernel",
                      .args = R"("device": 0, "stream": 7, "block": )" + std::string(block) + ", \"correlation\": " + id +
                              ", \"grid\": " + std::string(grid),
                      .tid = 7})});
}

}  // namespace ridge::test
