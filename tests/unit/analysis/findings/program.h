// What the findings on traces made by hand are written with: kernels, each with the call that launches it, and ops in a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

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

// Ops with one kernel each, in a row; what each was given, where that is recorded.
class OpsInARow {
 public:
  OpsInARow& op(std::string_view name, std::string_view kernel, int us, std::string_view dims = "", int thread = 1) {
    at_ += 20;
    ++id_;
    const std::string shapes =
        dims.empty() ? "" : fmt::format(R"("Input Dims": {}, "Input type": ["float", "float", ""])", dims);
    add(event({.name = name, .ts = at_ - 15, .dur = 10, .args = shapes, .tid = thread}));
    const bool copies = kernel.starts_with("Memcpy");
    add(event({.name = copies ? "cudaMemcpyAsync" : "cudaLaunchKernel",
               .ts = at_ - 12,
               .dur = 4,
               .cat = "cuda_runtime",
               .args = fmt::format(R"("correlation": {})", id_),
               .tid = thread}));
    add(event({.name = kernel,
               .ts = at_,
               .dur = us,
               .cat = copies ? "gpu_memcpy" : "kernel",
               .args = fmt::format(R"("correlation": {}, "device": 0, "stream": 7, "bytes": 4096)", id_),
               .tid = 7}));
    at_ += us;
    return *this;
  }
  Found found() const { return found_in_events(events_); }

 private:
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ", ") + event; }
  std::string events_;
  int at_ = 100;
  int id_ = 0;
};

}  // namespace ridge::test
