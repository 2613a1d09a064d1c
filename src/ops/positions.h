// Where the arguments of an op stand. A position is written once, in the op's row: the formula, the roles of its kernels and
// the findings about its operands read it there. -1: the op has no such argument.
#pragma once

#include <cstdint>
#include <variant>

namespace ridge {

struct ProductPositions {
  int a = 0, b = 1;        // the factors, [.., M, K] and [.., K, N]
  bool b_by_rows = false;  // b is [N, K]
  int added = -1;          // the tensor that is added to the product: bias, or self of addmm
  int beta = -1;           // its factor: 0 means that it is not read
  int out_dtype = -1;
  int ends = -1;  // grouped products: the groups' ends
};

struct ConvolutionPositions {
  enum class Transposed : std::uint8_t { no, yes, argument };

  int stride = -1, padding = -1, dilation = -1, output_padding = -1;
  int bias = -1, groups = -1;
  Transposed transposed = Transposed::no;
  int transposed_at = -1;
  int mask = -1;  // backward: which gradients are asked for
};

struct AttentionPositions {
  enum class Layout : std::uint8_t { heads_first, tokens_first };

  Layout layout = Layout::heads_first;
  int q = 0;        // k, v follow
  int causal = -1;  // the flag, or a mask type where 1 and 2 are causal
  int bias = -1;
  int lengths = -1;  // cumulative lengths of q; those of k and the two greatest lengths follow
  bool backward = false;
  // backward without a kernel for dO * O: reads O itself; but for float32, where ops before it make the sums
  bool reads_out = false;
};

using Positions = std::variant<std::monostate, ProductPositions, ConvolutionPositions, AttentionPositions>;

}  // namespace ridge
