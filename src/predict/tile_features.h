// Products by Triton: the configurations that Inductor's template is tried with, and what decides how long one of them takes.
// The table of expected times is asked by it (kind "triton_product"), so that configurations can be ranked before any of them
// is compiled. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/op_call.h"
#include "predict/call_features.h"

namespace ridge {

struct TritonTile {
  std::int64_t m = 0, n = 0, k = 0;  // BLOCK_M, BLOCK_N, BLOCK_K
  std::int64_t warps = 0, stages = 0;

  auto operator<=>(const TritonTile&) const = default;
};

// [m, k] x [k, n].
struct TritonProduct {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_turned = false, b_turned = false;  // the dimension of the sum is not A's dense one, or is B's
  DType dtype = DType::unknown;
};

// Of a call of aten::mm or aten::addmm; nothing of others, which the template is not measured for.
std::optional<TritonProduct> triton_product_of(const OpCall& call);

// What Inductor tries by default (PyTorch 2.11), made small where the product is, each once, in its order.
std::vector<TritonTile> inductor_tiles(const TritonProduct& product);

// Shared memory of a block, in bytes, as the template asks for it.
double shared_bytes(const TritonProduct& product, const TritonTile& tile);
std::int64_t tiles_of(const TritonProduct& product, const TritonTile& tile);

// {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 3}
std::string text_of(const TritonTile& tile);

CallFeatures features_of_tile(const TritonProduct& product, const TritonTile& tile, bool tf32, double multiprocessors);

}  // namespace ridge
