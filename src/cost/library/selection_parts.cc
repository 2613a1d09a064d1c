// What is looked for or named by an index, and the kernels of one call tell together. index_put that adds: its last kernel has
// a layer of the grid for each element before the indexed dimensions. topk over long rows: each pass counts the values of one
// digit of 8 bits, block by block; the kernels between the passes add up the counts.
#include <algorithm>

#include "cost/library/call_parts.h"
#include "ops/operands.h"

namespace ridge {
namespace {

constexpr double kDigits = 256, kCount = 2, kSum = 4;  // values of a digit; bytes of a block's count and of a row's sum

// What an index takes, as the lists of indices are not recorded: a row of the grid for each row, or elements by the block.
void take_by_grid(const OpCall& call, const CallLaunch& launch, GatherPart* part) {
  if (!launch.grid) return;
  const TensorShape* x = tensor_at(call, 0);
  const bool by_rows = launch.kernel.find("vectorized_gather_kernel") != std::string_view::npos;
  if (by_rows && x != nullptr && !x->sizes.empty() && x->sizes[0] > 0) {
    part->rows = blocks(launch.grid->x);
    part->elements = static_cast<double>(launch.grid->x) * numel(*x) / static_cast<double>(x->sizes[0]);
  }
  if (launch.facts->elements_per_block > 0)
    part->elements = static_cast<double>(launch.grid->x) * launch.facts->elements_per_block;
}

}  // namespace

void assign_gather_roles(CallParts& c) {
  double before = 1;
  for (const CallLaunch& launch : c.launches) {
    if (launch.grid && launch.kernel.find("indexing_backward_kernel") != std::string_view::npos)
      before = std::max(before, static_cast<double>(launch.grid->z));
  }
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    GatherPart& part = c.parts[i].edit<GatherPart>();
    part.before = before;
    take_by_grid(c.call, c.launches[i], &part);
  }
}

void assign_sort_roles(CallParts& c) {
  const auto holds = [&](std::size_t i, std::string_view text) {
    return c.launches[i].kernel.find(text) != std::string_view::npos;
  };
  double blocks = 0,
         rows = 0;  // of the whole call: the kernels that count have a block for each part of a row, the next one for each row
  for (std::size_t i = 0; i < c.launches.size(); ++i) {
    if (holds(i, "computeBlockwise")) blocks = std::max(blocks, volume(c.launches[i].grid));
    if (holds(i, "computeDigit")) rows = std::max(rows, volume(c.launches[i].grid));
  }
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    Part& part = c.parts[i];
    if (part.role != KernelRole::combine) continue;
    if (holds(i, "computeDigit")) part.edit<SelectionPart>().partial_bytes = blocks * kDigits * kCount;
    // The sums of its row, and of its own counts those before the digit that is looked for: half of them.
    if (holds(i, "computeBlockwise")) {
      part.edit<SelectionPart>().partial_bytes = rows * kDigits * kSum + blocks * kDigits * kCount / 2;
      part.guessed = true;
    }
    if (holds(i, "ScanByKey")) part.edit<SelectionPart>().partial_bytes = blocks * kSum;
  }
}

}  // namespace ridge
