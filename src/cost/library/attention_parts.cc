// Attention: splits over the keys and what adds them up, heads that share keys, sums of the queries' gradient.
#include <algorithm>
#include <cmath>

#include "cost/library/call_parts.h"
#include "kernel_names/tile_in_name.h"
#include "ops/operands.h"

namespace ridge {
namespace {

// Gradients of keys (or values) for every head of the queries, which the heads that share them add up.
double heads_bytes(const CallParts& c) {
  const auto* at = std::get_if<AttentionPositions>(&c.row.positions);
  if (at == nullptr) return 0;
  const auto first = static_cast<std::size_t>(at->q);
  const TensorShape* q = tensor_at(c.call, first);
  const TensorShape* k = tensor_at(c.call, first + 1);
  if (q == nullptr || k == nullptr || q->sizes.size() != 4 || k->sizes.size() != 4 || k->sizes[1] <= 0) return 0;
  return dense_bytes(k).value_or(0) * static_cast<double>(q->sizes[1]) / static_cast<double>(k->sizes[1]);
}

// "fmha_cutlassB_f32_aligned_64x64_k32_dropout_sm80": where the blocks of several ranges of keys add to the gradient of the
// same queries, each tile of queries has its sums in a buffer of whole tiles, which is read; a block that has all keys keeps
// them to itself.
void accumulate_queries(CallParts& c, std::size_t i) {
  const CallLaunch& launch = c.launches[i];
  const std::size_t mark = launch.kernel.find("fmha_cutlassB_");
  const auto* at = std::get_if<AttentionPositions>(&c.row.positions);
  if (at == nullptr || !at->backward) return;
  const TensorShape* q = tensor_at(c.call, static_cast<std::size_t>(at->q));
  if (mark == std::string_view::npos || !launch.grid || q == nullptr || q->sizes.size() != 4) return;
  const auto [tile_m, tile_n] = tile_in_name(launch.kernel, mark);
  if (tile_m <= 0) return;
  const bool tokens_first = at->layout == AttentionPositions::Layout::tokens_first;
  const auto size = [&](std::size_t d) { return static_cast<double>(q->sizes[d]); };
  const double tiles = std::ceil(size(tokens_first ? 1 : 2) / tile_m) * std::ceil(size(3) / tile_n);
  const double sums = size(0) * size(tokens_first ? 2 : 1) * tiles * tile_m * tile_n * item_bytes(DType::f32);
  c.parts[i].edit<AttentionPart>().accumulator_bytes = launch.grid->x > 1 ? sums : 0;
}

}  // namespace

// flash-decoding: the grid's second dimension is the number of splits.
void assign_attention_roles(CallParts& c) {
  for (std::size_t i = 0; i < c.parts.size(); ++i) accumulate_queries(c, i);
  for (std::size_t i = 1; i < c.parts.size(); ++i) {
    if (c.parts[i].role != KernelRole::combine) continue;
    if (c.launches[i].kernel.find("reduce_head") != std::string_view::npos) {
      c.parts[i].edit<AttentionPart>().partial_bytes = heads_bytes(c);
      continue;
    }
    const double splits = c.launches[i - 1].grid ? static_cast<double>(c.launches[i - 1].grid->y) : 1;
    const double partial = output_elements(c) * item_bytes(DType::f32) * std::max(splits, 1.0);
    c.parts[i].edit<AttentionPart>().partial_bytes = c.parts[i - 1].edit<AttentionPart>().partial_bytes = partial;
  }
}

}  // namespace ridge
