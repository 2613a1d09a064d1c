// What the name of an expert's product tells: the types of its operands, which no argument of the op has, and whether its
// result is gated. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace ridge {

struct ExpertProduct {
  // Bytes of a value, scales of blocks counted in; 0: the name does not tell.
  double weight_item = 0, in_item = 0, out_item = 0;
  bool gated = false;  // an activation that halves the width is part of it
};

// TensorRT-LLM's batched products ("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_..") and Triton's ("_matmul_ogs_NNT_bf16xbf16xmxfp4_..");
// nothing for other names.
std::optional<ExpertProduct> expert_product(std::string_view kernel);

}  // namespace ridge
