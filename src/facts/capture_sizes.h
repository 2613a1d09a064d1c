// How many kernels a CUDA graph of the program would hold: what one call of a compiled graph launches; outside of compiled
// code, what an iteration launches. Replaying a graph has a price of its own, which a kernel or two do not repay.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "facts/scope.h"

namespace ridge {

// A replay by torch.compile costs the host 110 us, however many kernels it holds; without, a call costs 45 us and 22 us a
// kernel (H200, PyTorch 2.11: 36 against 104 us with one kernel, 112 against 112 with three, 134 against 117 with four).
inline constexpr std::int64_t kSeveralKernels = 4;

class CaptureSizes {
 public:
  explicit CaptureSizes(const Scope& scope);
  // Kernels of the graph that would hold that piece of device work, by row.
  std::int64_t kernels_with(std::uint32_t row) const;
  bool worthwhile(std::uint32_t row) const { return kernels_with(row) >= kSeveralKernels; }

 private:
  std::uint32_t call_of(std::uint32_t row) const;

  const Scope& scope_;
  std::unordered_map<std::uint32_t, std::int64_t> by_call_;  // kernels of each compiled call
  std::int64_t eager_ = 0;                                   // of an iteration of a device, outside of compiled calls
};

}  // namespace ridge
