// Shapes of a call as evidence: the text of "Input Dims" taken apart once per distinct text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/diff/keys.h"

namespace ridge::diff {

struct TensorDims {
  std::uint64_t dims = 0;  // of the sizes in their order; 0 for a value that is no tensor
  std::uint64_t numel = 0;
};

struct Shapes {
  std::vector<std::vector<std::int64_t>> sizes;  // of each argument; empty for one that is no tensor or a scalar
  std::vector<TensorDims> tensors;               // the same, as evidence; lists of tensors are taken apart
  std::uint64_t largest = 0;                     // dims of the tensor with the most elements, 0 when there is none
  std::uint64_t numel = 0;                       // and how many they are

  bool holds_dims(std::uint64_t dims) const;
  bool holds_numel(std::uint64_t count) const;
};

// Never fails: what cannot be read is left out.
Shapes parse_shapes(std::string_view input_dims);

// What two calls of one sort of matrix work must have in common: (batch, M, K, N) of a product, operands of a convolution or of
// attention. 0 when the shapes do not tell.
std::uint64_t heavy_shape(std::string_view sort, std::string_view canonical, const Shapes& shapes);

}  // namespace ridge::diff
