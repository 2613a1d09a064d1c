// Attention: splits over the keys and what adds them up, heads that share keys, sums of the queries' gradient; over pages:
// which of a step's requests a kernel serves, and whether it looks at the last keys only.
#include <algorithm>
#include <cmath>

#include "cost/library/call_parts.h"
#include "kernel_names/kernel_description.h"
#include "kernel_names/tile_in_name.h"
#include "model/server_steps.h"
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

// Names that tell that a query looks at the last keys only, though not at how many. AITER takes its two-dimensional kernel for
// tokens that are generated where there is a window, or where all sequences are short.
bool may_have_window(std::string_view kernel, const ServerTokens& tokens) {
  const auto holds = [&](std::string_view text) { return kernel.find(text) != std::string_view::npos; };
  return holds("Sliding") || holds("sliding") || (holds("unified_attention_2d") && tokens.context.queries <= 0);
}

// Partial results of a sequence's keys: one for each range of 256 keys (ROCm's paged kernel), or as many as the grid is deep
// (Triton's); 0: not told.
double partial_results(const CallParts& c, std::size_t i, const ServerTokens& tokens) {
  const std::string_view kernel = c.launches[i].kernel;
  const std::optional<Dim3>& grid = c.launches[i - 1].grid;
  if (kernel.find("reduce_segments") != std::string_view::npos) return grid ? static_cast<double>(grid->z) : 0;
  if (kernel.find("ll4mi_reduce") == std::string_view::npos) return 0;
  constexpr double kRange = 256;
  const ServerTokens::Sum& sum = tokens.generation;
  return sum.requests > 0 && sum.keys > 0 ? std::ceil(sum.keys / sum.requests / kRange) : 0;
}

// Of a step that both reads and makes tokens, those that a kernel serves: as many as its call has queries, else as its name
// tells.
void keep_served(std::string_view kernel, const TensorShape* q, ServerTokens* tokens) {
  if (tokens->context.queries <= 0 || tokens->generation.queries <= 0) return;
  const double queries = q == nullptr || q->sizes.empty() ? 0 : static_cast<double>(q->sizes[0]);
  const bool reads = queries == tokens->context.queries, makes = queries == tokens->generation.queries;
  const Stage named = stage_of_kernel(kernel);
  const Stage serves = reads == makes ? named : reads ? Stage::prefill : Stage::decode;
  if (serves == Stage::prefill) tokens->generation = {};
  if (serves == Stage::decode) tokens->context = {};
}

void assign_paged_roles(CallParts& c, const PagedPositions& at) {
  const TensorShape* q = tensor_at(c.call, static_cast<std::size_t>(at.q));
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const std::string_view kernel = c.launches[i].kernel;
    AttentionPart& part = c.parts[i].edit<AttentionPart>();
    part.tokens = c.context.tokens;
    const bool attends = describe_kernel(kernel).category == Category::attention;
    if (c.parts[i].role == KernelRole::main && !attends) c.parts[i].role = KernelRole::unknown;
    keep_served(kernel, q, &part.tokens);
    part.window = may_have_window(kernel, part.tokens);
    if (c.parts[i].role != KernelRole::combine || i == 0 || q == nullptr) continue;
    // Sums of float32; the paged kernel's are of the result's type.
    const bool own_type = kernel.find("ll4mi_reduce") != std::string_view::npos;
    const double item = own_type ? item_bytes(q->dtype) : item_bytes(DType::f32);
    const double partial = numel(*q) * item * partial_results(c, i, part.tokens);
    part.partial_bytes = c.parts[i - 1].edit<AttentionPart>().partial_bytes = partial;
  }
}

}  // namespace

// flash-decoding: the grid's second dimension is the number of splits.
void assign_attention_roles(CallParts& c) {
  if (const auto* paged = std::get_if<PagedPositions>(&c.row.positions)) return assign_paged_roles(c, *paged);
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
