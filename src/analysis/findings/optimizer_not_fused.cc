// optimizer_not_fused: an optimizer step that launches kernel after kernel, per parameter (a loop) or per operation (foreach), where one fused kernel
// updates many parameters in one pass over memory.
#include <algorithm>
#include <map>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"

namespace ridge {
namespace {

// A fused step is one launch for hundreds of parameters. Adam by foreach is seven at least, whatever the model; a loop has more.
constexpr std::int64_t kLeastLaunches = 6;

struct Step {
  std::vector<std::pair<std::size_t, std::size_t>> slots;
  std::map<std::uint32_t, std::int64_t> by_kernel;  // time by name
  std::int64_t foreach_launches = 0;
  bool fused = false;  // a fused optimizer, or a compiled one
};

bool is_triton(Category category) { return category <= Category::triton_other; }
// Matrix products of second-order methods and collectives of sharded ones are no part of an update that could be fused.
bool is_update(Category category) {
  return is_triton(category) || category == Category::elementwise || category == Category::reduction ||
         category == Category::layout || category == Category::optimizer;
}

Step optimizer_work(Facts& facts) {
  Step step;
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    if (slot.work.sort != WorkSort::compute || facts.launch(row) == kNoNode ||
        facts.phase(facts.launch(row)) != Phase::optimizer)
      return;
    const KernelIdentity& kernel = facts.identity(row);
    if (!is_update(kernel.category)) return;
    if (kernel.category == Category::optimizer || is_triton(kernel.category) || facts.by_graph_launch(row)) step.fused = true;
    step.foreach_launches += kernel.label.starts_with("foreach") ? 1 : 0;
    saturating_add(&step.by_kernel[facts.kernel_id(row).value], slot.open_ns);
    step.slots.emplace_back(d, i);
  });
  return step;
}

}  // namespace

std::optional<Finding> find_optimizer_not_fused(Facts& facts) {
  const Step step = optimizer_work(facts);
  const auto launches = static_cast<std::int64_t>(step.slots.size());
  if (step.fused || launches < kLeastLaunches * facts.ledger().iterations()) return std::nullopt;
  // One pass over the parameters remains: it takes at least as long as the longest of the operations that it replaces.
  const auto longest = std::max_element(step.by_kernel.begin(), step.by_kernel.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  for (const auto& [d, i] : step.slots) {
    const WorkSlot& slot = facts.ledger().devices()[d].work[i];
    tally.add(slot.work.row, slot.open_ns);
    if (facts.kernel_id(slot.work.row).value != longest->first) claim.take_work(d, i);
  }
  // Only between two of its kernels: what the host does before the first launch of a step it does for a fused one too.
  const auto in_step = [&](std::uint32_t row) {
    const NodeId launch = facts.launch(row);
    return launch != kNoNode && facts.phase(launch) == Phase::optimizer;
  };
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool between = slot.piece.cause == IdleCause::launch || slot.piece.cause == IdleCause::kernel_gap;
    if (between && in_step(slot.last_work) && in_step(slot.next_work)) claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  const bool loop = step.foreach_launches * 2 < launches;
  return Finding{.finding = (loop ? "the optimizer updates each parameter by kernels of its own: "
                                  : "the optimizer runs one foreach kernel after another: ") +
                            per_iteration(facts, launches, "kernel"),
                 .saves_ns = claim.ns(),
                 .confidence = loop ? Confidence::high : Confidence::medium,
                 .evidence = tally.text(),
                 .action = loop
                               ? "construct the optimizer with fused=True (or at least foreach=True), or compile optimizer.step"
                               : "construct the optimizer with fused=True, or compile optimizer.step",
                 .event = tally.event()};
}

}  // namespace ridge
