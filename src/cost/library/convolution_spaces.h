// Convolutions that multiply in a transformed space, tile by tile: by Winograd's algorithm or by Fourier transforms. Their
// kernels execute other arithmetic than the definition, which is what FLOPs are counted by.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/library/call_cost.h"

namespace ridge {

// A kernel's name that tells of such a transform.
bool names_transform(std::string_view kernel);

struct TransformedLaunch {
  bool transformed = false;     // it multiplies in a transformed space
  std::optional<double> flops;  // what it executes there; nothing: the names of the call's kernels do not tell
};

// In launch order, of one call of a convolution.
std::vector<TransformedLaunch> transformed_launches(const OpFormula& row, const OpCall& call,
                                                    std::span<const CallLaunch> launches);

}  // namespace ridge
