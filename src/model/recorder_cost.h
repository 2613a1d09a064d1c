// RecorderCost: what recording cost the host, event by event, about. The profiler slows the program down that it watches: a
// host that is too slow for its device in the trace may keep up when nobody records.
//
// The constants are the least of what six programs showed; they are no bound: a seventh, which nobody had fitted them to, had
// at most 1.8 us an op with shapes. Who takes them off may take off too much, and says so. The six
// host-bound programs (100 small ops; 40 linear layers; an encoder; training a small network; compiled functions of 1 and 32
// Triton kernels), timed with and without torch.profiler on an H200 with PyTorch 2.11: 2.0 to 7.9 us an op, 3.4 to 7.8 with
// shapes; 11 us for an Inductor kernel's wrapper, 20 with shapes; 0.9 to 2.4 us a Python frame. A profiler step costs 50 to 150
// us besides (the pairs of tests/fixtures/README.md: step in the trace, less the real one, less the ops).
#pragma once

#include <cstdint>
#include <vector>

#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

struct RecorderPrices {
  std::int64_t op_ns = 2'000;
  std::int64_t triton_op_ns = 10'000;
  std::int64_t frame_ns = 900;
  std::int64_t step_ns = 50'000;
};
inline constexpr RecorderPrices kWithoutShapes = {};
inline constexpr RecorderPrices kWithShapes = {.op_ns = 3'400, .triton_op_ns = 20'000};

class RecorderCost {
 public:
  // Of these threads (flags, as tree.threads): those that launch a device's work.
  RecorderCost(const Trace& trace, const CallTree& tree, const std::vector<bool>& threads);

  // Cost of what started in [from, to).
  std::int64_t between(std::int64_t from_ns, std::int64_t to_ns) const { return until(to_ns) - until(from_ns); }

 private:
  std::int64_t until(std::int64_t time_ns) const;

  std::vector<std::int64_t> starts_, sums_;  // in order of time; the sum up to and with each
};

}  // namespace ridge
