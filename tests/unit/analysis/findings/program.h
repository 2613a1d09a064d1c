// What the findings on traces made by hand are written with: kernels, each with the call that launches it.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/host_device_trace.h"
#include "unit/analysis/findings/found.h"

namespace ridge::test {

// Kernels of 100 us each, launched right before they start. `at` in us.
class Program {
 public:
  Program& kernel(std::int64_t at, std::string_view name = "void at::native::softmax_warp_forward<float>()",
                  std::int64_t us = 100, int stream = 7) {
    ++correlation_;
    text.call("cudaLaunchKernel", (at - 6) * kUs, (at - 1) * kUs, correlation_)
        .kernel(name, at * kUs, (at + us) * kUs, correlation_, stream);
    return *this;
  }
  TraceText text;

 private:
  int correlation_ = 0;
};

}  // namespace ridge::test
