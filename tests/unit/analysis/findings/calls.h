// Calls of ops on an H200, each with one kernel, for tests of what findings make of tensors: sizes, types and how they lie. The
// host is done before the device begins, so that what goes of the work is what the program saves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge::test {

// One argument of an op as the profiler writes it. A tensor without strides has none recorded.
struct Tensor {
  std::string sizes = "[]", strides = "[]", type = "Scalar", value = "";
};

inline std::string args_of(const std::vector<Tensor>& tensors) {
  std::string sizes, strides, types, values;
  bool lies = false;
  for (const Tensor& t : tensors) {
    const char* comma = sizes.empty() ? "" : ", ";
    sizes += comma + t.sizes;
    strides += comma + t.strides;
    types += fmt::format("{}\"{}\"", comma, t.type);
    values += fmt::format("{}\"{}\"", comma, t.value);
    lies = lies || t.strides != "[]";
  }
  return fmt::format(R"("Input Dims": [{}], "Input type": [{}], "Concrete Inputs": [{}]{})", sizes, types, values,
                     lies ? fmt::format(R"(, "Input Strides": [{}])", strides) : "");
}

struct Call {
  std::string_view op, kernel;
  int us = 100;
  std::string args = "";                 // of the op: args_of()
  std::vector<std::string> around = {};  // ops around it, the outermost first; "name|args" where one has any
  std::string launch = "";               // args of the kernel: its grid and block
};

inline Found found_in_calls(const std::vector<Call>& calls, const CostOptions& costs = {}) {
  std::string events;
  int at = 100, device_at = 200 + 40 * static_cast<int>(calls.size());
  int id = 0;
  for (const Call& call : calls) {
    ++id;
    int from = at, length = 36;
    for (const std::string& outer : call.around) {
      const std::size_t bar = outer.find('|');
      events += event({.name = outer.substr(0, bar),
                       .ts = from++,
                       .dur = length,
                       .args = bar == outer.npos ? "" : outer.substr(bar + 1)}) +
                ", ";
      length -= 2;
    }
    events += event({.name = call.op, .ts = from, .dur = length, .args = call.args}) + ", ";
    const bool copies = call.kernel.starts_with("Memcpy");
    const std::string correlation = fmt::format("\"correlation\": {}", id);
    events += event({.name = copies ? "cudaMemcpyAsync" : "cudaLaunchKernel",
                     .ts = at + 15,
                     .dur = 4,
                     .cat = "cuda_runtime",
                     .args = correlation}) +
              ", ";
    events += event(
        {.name = call.kernel,
         .ts = device_at,
         .dur = call.us,
         .cat = copies ? "gpu_memcpy" : "kernel",
         .args = fmt::format(R"({}, "device": 0, "stream": 7{}{})", correlation, call.launch.empty() ? "" : ", ", call.launch),
         .tid = 7});
    if (id < static_cast<int>(calls.size())) events += ", ";
    at += 40;
    device_at += call.us;
  }
  return found_on_h200(events, costs);
}

// What a finding claims of its work, in us: `bound` at most, `expected` to go.
struct ClaimedWork {
  double bound_us = 0, expected_us = 0;
};
inline ClaimedWork claimed_work(const Found& found, std::string_view id) {
  ClaimedWork out;
  for (const ClaimPart& part : claim_of(found, id)) {
    if (part.idle) continue;
    out.bound_us += static_cast<double>(part.ns) / kUs;
    out.expected_us += static_cast<double>(part.saved_ns) / kUs;
  }
  return out;
}

}  // namespace ridge::test
