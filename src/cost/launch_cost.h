// LaunchCost: what one launch had to do, whatever the device: arithmetic and compulsory DRAM traffic. Unknown is nullopt, never
// 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace ridge {

// How the figures are known.
enum class Estimate : std::uint8_t {
  none,       // nothing is known
  exact,      // FLOPs by PyTorch's own formula, bytes from every operand's shape
  shapes,     // from shapes, with a rule about this kernel's part in its op
  source,     // from the source of the generated kernel
  ambiguous,  // more than one reading fits the arguments, or part is read again because it leaves the cache
};
std::string_view name_of(Estimate estimate);  // empty for none

struct LaunchCost {
  std::optional<double> flops;            // PyTorch's convention; 0 for a kernel that is known to have none (helper, pointwise)
  std::optional<double> flops_causal;     // attention only: what a causal mask leaves
  std::optional<double> flops_pointwise;  // estimated arithmetic of fused pointwise kernels
  std::optional<double> bytes_read;
  std::optional<double> bytes_written;
  DType dtype = DType::unknown;  // in which it computes
  bool matrix = false;           // its FLOPs are a product's, a convolution's or attention's, whatever its name says
  Estimate estimate = Estimate::none;
};

}  // namespace ridge
