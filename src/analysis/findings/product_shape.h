// The sizes of a matrix product, and whether its rows start where tensor cores can load them.
#pragma once

#include <optional>

#include "ops/op_call.h"

namespace ridge {

struct ProductShape {
  double m = 0, n = 0, k = 0;
  double item = 0;          // bytes of an element
  bool misaligned = false;  // a row of an operand or of the result does not start at a multiple of one vector load
};

// Of any op whose row in src/ops says where its factors stand; nothing where they are not told, or of a type that tensor cores
// do not take.
std::optional<ProductShape> product_shape(const OpCall& call);

}  // namespace ridge
