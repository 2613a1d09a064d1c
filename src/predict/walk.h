// How an elementwise kernel goes over the tensors of a call: as PyTorch's iterator does it, dimensions in the order of the
// strides, neighbours joined where all tensors allow it. From that follows which kernel runs and which sectors of memory its
// warps touch. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/op_call.h"

namespace ridge::features {

struct Walk {
  double dims = 1;         // that are left when neighbours are joined
  bool plain = true;       // one dimension, and every tensor dense in it: elements are moved several at once
  double inner = 1;        // elements of the fastest dimension
  double by_warps = 1;     // the bytes of the sectors that the warps touch, over the bytes of the elements
  double by_blocks = 1;    // the same, where a block's warps find what the others have brought
  double moved_bytes = 0;  // the sectors of all blocks
  double tensors = 0;
};

// The walk of an elementwise op or a copy; nothing for others. `result_item`: bytes of an element of the result.
std::optional<Walk> walk_of(const OpCall& call, std::string_view op, std::string_view kind, double result_item);

// The sizes in the order of their strides, slowest first, and where each dimension has gone.
struct StrideOrder {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> place_of;  // by dimension
};
StrideOrder sorted_by_strides(const TensorShape& x);

// How a list is joined along a dimension: what of each tensor lies together in the result.
struct Joined {
  bool dense = false, channels_last = false;  // all of them
  double shortest_bytes = 0;                  // of the pieces
  float alignment = 0;                        // of the pieces' bytes: powers of two
};
Joined joined_of(const std::vector<TensorShape>& list, std::int64_t dim, bool stacked, double item);

}  // namespace ridge::features
