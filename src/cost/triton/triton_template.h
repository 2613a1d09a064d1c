// Inductor's templates (triton_tem_*): matrix products, convolutions and flex attention, whose FLOPs stand in the shapes of
// their pointers.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cost/triton/triton_arguments.h"

namespace ridge {

struct TemplateCost {
  std::optional<double> flops;  // PyTorch's convention: epilogues count nothing, attention is the full square
  double read = 0;
  double written = 0;
  DType dtype = DType::unknown;  // of the operands
};

// `kernel_flop`: Inductor's count, taken where the shapes do not tell. nullopt without pointers.
std::optional<TemplateCost> template_cost(const TritonArguments& arguments, std::span<const std::string> fused_ops,
                                          std::optional<double> kernel_flop);

}  // namespace ridge
