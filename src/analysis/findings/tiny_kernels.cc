// tiny_kernels: long runs of kernels, each shorter than the time it takes to launch it. What such a program lacks is larger ops, not faster launches.
// Compiled code is left to launch_bound: a compiler fused what it could, and what remains of it is launched faster, not written otherwise.
#include <algorithm>
#include <unordered_set>

#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

// A launch costs the host 3 to 10 us and the device 1 to 3 us. Models whose layers are small (DenseNet at batch 1) mix such kernels with longer
// ones every dozen launches; a loop over small tensors does not.
constexpr std::int64_t kTinyNs = 5'000;
constexpr std::size_t kLeastRun = 32;
constexpr std::int64_t kLeastAnIteration = 100;

class Runs {
 public:
  Runs(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts) {}

  void walk(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::vector<std::size_t> run;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].work.sort == WorkSort::set) continue;  // belongs to a kernel
      if (is_tiny(slots[i])) {
        run.push_back(i);
        continue;
      }
      close(device, &run);
    }
    close(device, &run);
    take_idle(device);
  }

  std::int64_t kernels() const { return static_cast<std::int64_t>(kernels_); }
  const WorkTally& tally() const { return tally_; }

 private:
  // What another finding claimed is not counted again.
  bool is_tiny(const WorkSlot& slot) const {
    return slot.work.sort == WorkSort::compute && slot.work.end_ns - slot.work.start_ns <= kTinyNs &&
           slot.open_ns == slot.owned_ns && facts_.launch(slot.work.row) != kNoNode && !facts_.by_graph_launch(slot.work.row) &&
           !is_compiled(slot.work.row);
  }
  bool is_compiled(std::uint32_t row) const {
    return facts_.identity(row).library == "inductor" ||
           facts_.model().compiled_regions().call_at(facts_.launch(row)) != kNoCall;
  }

  // All of a run but its longest kernel could go.
  void close(std::size_t device, std::vector<std::size_t>* run) {
    if (run->size() >= kLeastRun) {
      const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
      const std::size_t longest = *std::max_element(
          run->begin(), run->end(), [&](std::size_t a, std::size_t b) { return slots[a].open_ns < slots[b].open_ns; });
      for (const std::size_t i : *run) {
        rows_.insert(slots[i].work.row);
        tally_.add(slots[i].work.row, slots[i].open_ns);
        if (i != longest) claim_.take_work(device, i);
      }
      kernels_ += run->size();
    }
    run->clear();
  }

  void take_idle(std::size_t device) {
    const std::vector<IdleSlot>& slots = facts_.ledger().devices()[device].idle;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool between = slots[i].piece.cause == IdleCause::launch || slots[i].piece.cause == IdleCause::kernel_gap;
      if (between && rows_.contains(slots[i].next_work) && rows_.contains(slots[i].last_work)) claim_.take_idle(device, i);
    }
  }

  Facts& facts_;
  Claim& claim_;
  WorkTally tally_;
  std::unordered_set<std::uint32_t> rows_;
  std::size_t kernels_ = 0;
};

}  // namespace

std::optional<Finding> find_tiny_kernels(Facts& facts) {
  Claim claim(facts.ledger());
  Runs runs(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) runs.walk(d);
  if (runs.kernels() < kLeastAnIteration * facts.ledger().rounds() || !claim.keep()) return std::nullopt;
  return Finding{
      .finding = "kernels shorter than their launch, one behind the other: " + per_iteration(facts, runs.kernels(), "kernel"),
      .saves_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = runs.tally().text(),
      .action = "do the loop's work in one op: batch the tensors (torch.stack, torch._foreach_*, vmap), or compile the loop",
      .event = runs.tally().event()};
}

}  // namespace ridge
