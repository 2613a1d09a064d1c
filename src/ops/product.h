// The formula of a matrix product by the positions of its arguments, and rows made of both: what PyTorch's products and those
// of other libraries share.
#pragma once

#include "ops/op_work.h"

namespace ridge {

// [.., M, K] x [.., K, N], or x [.., N, K] where the positions say so: then a matrix b is multiplied with all rows of a.
OpWork product(const OpCall& call, const Part& part, const ProductPositions& at);

using ProductFormula = OpWork (*)(const OpCall&, const Part&, const ProductPositions&);

// A row whose formula reads the arguments at the row's own positions.
template <ProductPositions at, ProductFormula formula>
OpWork product_at(const OpCall& c, const Part& p) {
  return formula(c, p, at);
}
template <ProductPositions at, ProductFormula formula = product>
constexpr OpFormula product_row(std::string_view op) {
  return {.op = op, .family = OpFamily::gemm, .work = product_at<at, formula>, .positions = at};
}

}  // namespace ridge
