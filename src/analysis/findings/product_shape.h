// The sizes of a matrix product, whether its rows start where tensor cores can load them, and which of its dimensions are to
// blame where they do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/op_call.h"

namespace ridge {

// What a program calls the dimensions of a product.
enum class ProductSide : std::uint8_t { tokens, in_features, out_features, of_batch };
std::string_view name_of(ProductSide side);

struct ProductShape {
  double m = 0, n = 0, k = 0;
  double item = 0;            // bytes of an element
  bool batched = false;       // many small products: attention's
  bool a_by_columns = false;  // a is stored transposed, as the gradient of a layer's output is for the gradient of its weight
  bool b_by_columns = false;
  // Dimensions along which rows of an operand or of the result lie, with a size that is no multiple of one vector load.
  std::vector<char> odd;     // of 'm', 'n', 'k', each once
  bool odd_strides = false;  // rows of a part of a wider tensor, whose distance is none

  bool misaligned() const { return !odd.empty() || odd_strides; }
  double size(char dimension) const { return dimension == 'm' ? m : dimension == 'n' ? n : k; }
  // What a dimension is in a layer's product (a of tokens by features, b its weight), or in that product's gradients.
  ProductSide side(char dimension, bool backward) const;
  // The sizes that a vector load takes are multiples of this.
  std::int64_t grid() const;
};

// Of any op whose row in src/ops says where its factors stand; nothing where they are not told, or of a type that tensor cores
// do not take.
std::optional<ProductShape> product_shape(const OpCall& call);

}  // namespace ridge
