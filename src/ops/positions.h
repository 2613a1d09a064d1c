// Where the arguments of an op stand. A position is written once, in the op's row: the formula, the roles of its kernels and
// the findings about its operands read it there. -1: the op has no such argument.
#pragma once

#include <cstdint>
#include <variant>

#include "base/dtype.h"

namespace ridge {

struct ProductPositions {
  int a = 0, b = 1;        // the factors, [.., M, K] and [.., K, N]
  bool b_by_rows = false;  // b is [N, K]
  int added = -1;          // the tensor that is added to the product: bias, or self of addmm
  int beta = -1;           // its factor: 0 means that it is not read
  int out_dtype = -1;
  int ends = -1;  // grouped products: the groups' ends
  // quantised products
  int out = -1;                    // the result, where it is given
  int scale_a = -1, scale_b = -1;  // scales of the factors
  int packed_a = 1, packed_b = 1;  // values in one element of a factor
  DType result = DType::unknown;   // of a new result, where the library always makes the same
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
  int longest = -1;  // the two greatest lengths, where they do not follow at once
  bool backward = false;
  // backward without a kernel for dO * O: reads O itself; but for float32, where ops before it make the sums
  bool reads_out = false;
};

// Attention over a cache of pages: which keys belong to which query is in tensors of indices, whose values no trace holds.
struct PagedPositions {
  enum class Keys : std::uint8_t {
    fresh,   // k and v are those of the new tokens, [tokens, heads, depth]; the cache is no argument
    paged,   // the cache, [pages, page, heads, depth]
    blocks,  // the cache, [pages, heads, depth / x, page, x] and [pages, heads, depth, page]
    latent,  // one cache of latents that all heads share, [pages, .., depth]; v: a part of them
    ragged,  // k and v are all that is met, the sequences one behind the other, [tokens, heads, depth]
  };

  Keys keys = Keys::fresh;
  int q = 0, k = 1, v = 2, out = -1;
  int longest = -1;                // the number of keys of the longest sequence, where the call is told
  int sequences = -1;              // a tensor with one value for each sequence
  int layout = -1;                 // a number: 1 where heads stand before tokens, [pages, heads, page, depth]
  int pages = -1;                  // a list of the pages of all sequences
  int ends = -1;                   // where the queries of each sequence end: one value more than there are sequences
  int causal = -1;                 // a number: 1 where the mask is causal
  int window = -1;                 // the number of keys before a query that it meets; negative: all
  int q_place = -1, k_place = -1;  // latent: what tells the place of a token, where it is a tensor of its own
};

// A mixture of experts in one call: x [tokens, hidden], weights [experts, ..], the chosen experts [tokens, k].
struct ExpertsPositions {
  int x = 0, up = -1, down = -1, chosen = -1;
  int top_k = -1;      // the number, where the chosen experts are no argument
  int router = -1;     // logits [tokens, experts]
  int devices = -1;    // the number that share the experts, where each has all tokens
  int scattered = -1;  // a flag: each device has only the tokens that chose its experts, which nothing counts
  int out = -1;
  int scale_up = -1, scale_down = -1;
  // Which of the two products the op is: ck_moe_stage1 and the like are one each.
  enum class Product : std::uint8_t { both, up, down } product = Product::both;
};

using Positions =
    std::variant<std::monostate, ProductPositions, ConvolutionPositions, AttentionPositions, PagedPositions, ExpertsPositions>;

}  // namespace ridge
