// tiny_kernels: long runs of kernels, each shorter than the time it takes to launch it. What such a program lacks is larger
// ops, not faster launches. Compiled code is left to launch_bound: a compiler fused what it could, and what remains of it is
// launched faster, not written otherwise. So are the many kernels of one op (a recurrent layer of cuDNN): the program has no
// loop there.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/findings/catalog.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

// A launch costs the host 3 to 10 us and the device 1 to 3 us. Models whose layers are small (DenseNet at batch 1) mix such
// kernels with longer ones every dozen launches; a loop over small tensors does not.
constexpr std::int64_t kTinyNs = 5'000;
// One kernel again and again is a loop over tensors: with stacks and shapes recorded its launch takes this long.
constexpr std::int64_t kTinyInLoopNs = 15'000;
constexpr std::size_t kLeastApart = 12, kMostApart = 64;  // launches from a longer one of a loop to the next
constexpr std::int64_t kTinyInRoundNs = 8'000;
constexpr double kOfLoop = 0.85;  // of a loop that goes: one op for all still walks the tensors
constexpr std::size_t kLeastRun = 32;
constexpr std::int64_t kLeastKernels = 100;  // an iteration

class Runs {
 public:
  explicit Runs(Facts& facts) : facts_(facts) {
    for (const DeviceLedger& device : facts.ledger().devices()) {
      for (const WorkSlot& slot : device.work) ++kernels_of_op_[facts.op(slot.work.row).value];
    }
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) walk(d);
  }

  std::int64_t kernels() const { return kernels_; }
  std::int64_t longest() const { return longest_; }

  // `across`: iterations are none, and a run is one loop from its first kernel to its last.
  void take(bool across, Claim* claim, WorkTally* tally, Removal* gone) const {
    for (const Run& run : runs_) take_work(run, across, claim, tally);
    for_each_open_idle(facts_.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
      const bool between = is_late(slot.piece.cause) || slot.piece.cause == IdleCause::kernel_gap;
      const auto last = iterations_.find(slot.last_work), next = iterations_.find(slot.next_work);
      if (!between || last == iterations_.end() || next == iterations_.end()) return;
      if (!across && last->second != next->second) return;
      // It stays open to launch_bound: a program that keeps its loop can launch it at once.
      const std::int64_t got = claim->reach_idle(d, i);
      if (slot.piece.cause == IdleCause::kernel_gap) {
        gone->gaps.push_back({slot.next_work, got});
      } else if (const NodeId launch = facts_.launch(slot.next_work); launch.value < facts_.tree().recorded) {
        gone->host.push_back(
            {static_cast<std::uint32_t>(thread_of(facts_.tree(), launch)), {slot.piece.start_ns, slot.piece.end_ns}, kOfLoop});
      }
    });
  }

 private:
  using Index = std::optional<std::size_t>;  // of an iteration
  struct Run {
    std::size_t device;
    std::vector<std::size_t> slots;
  };

  void walk(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::vector<std::size_t> run;
    std::size_t longer = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].work.sort == WorkSort::set) continue;  // belongs to a kernel
      if (is_tiny(slots[i]) || (is_tiny(slots[i], kTinyInLoopNs) && repeats(slots, i))) {
        run.push_back(i);
        continue;
      }
      // A longer one in each round of a loop of tiny ones.
      if (run.size() >= kLeastApart * (longer + 1) && is_tiny(slots[i], kTinyInRoundNs) && goes_round(slots, i)) {
        ++longer;
        run.push_back(i);
        continue;
      }
      longer = 0;
      close(device, &run);
    }
    close(device, &run);
  }

  StringId name(const std::vector<WorkSlot>& slots, std::size_t i) const { return facts_.kernel_id(slots[i].work.row); }

  // The kernel before it, or behind it, is the same.
  bool repeats(const std::vector<WorkSlot>& slots, std::size_t i) const {
    if (facts_.op(slots[i].work.row) == kNoNode) return false;
    const auto same = [&](std::size_t other) { return name(slots, other) == name(slots, i); };
    return (i > 0 && same(i - 1)) || (i + 1 < slots.size() && same(i + 1));
  }
  // It runs again within a round, behind the same two.
  bool goes_round(const std::vector<WorkSlot>& slots, std::size_t i) const {
    if (facts_.op(slots[i].work.row) == kNoNode || i < 2) return false;
    const auto is_again = [&](std::size_t other) {
      return name(slots, other) == name(slots, i) && name(slots, other - 1) == name(slots, i - 1) &&
             name(slots, other - 2) == name(slots, i - 2);
    };
    for (std::size_t apart = kLeastApart; apart <= kMostApart; ++apart) {
      if ((i >= apart + 2 && is_again(i - apart)) || (i + apart < slots.size() && is_again(i + apart))) return true;
    }
    return false;
  }
  // A copy on the device is launched as a kernel is: a gradient that goes into its place.
  bool is_launched(const WorkSlot& slot) const {
    if (slot.work.sort == WorkSort::compute) return true;
    return slot.work.sort == WorkSort::copy && facts_.kernel(slot.work.row).find("DtoD") != std::string_view::npos;
  }
  // What another finding claimed is not counted again.
  bool is_tiny(const WorkSlot& slot, std::int64_t most_ns = kTinyNs) const {
    return is_launched(slot) && slot.work.end_ns - slot.work.start_ns <= most_ns && slot.open_ns == slot.owned_ns &&
           facts_.launch(slot.work.row) != kNoNode && !facts_.by_graph_launch(slot.work.row) && !is_compiled(slot.work.row) &&
           !is_of_one_op(slot.work.row);
  }
  bool is_of_one_op(std::uint32_t row) const {
    const NodeId op = facts_.op(row);
    return op != kNoNode && kernels_of_op_.at(op.value) >= static_cast<std::int64_t>(kLeastRun);
  }
  bool is_compiled(std::uint32_t row) const {
    return facts_.identity(row).library == "inductor" ||
           facts_.model().compiled_regions().call_at(facts_.launch(row)) != kNoCall;
  }

  void close(std::size_t device, std::vector<std::size_t>* run) {
    if (run->size() >= kLeastRun) {
      for (const std::size_t i : *run) {
        const std::uint32_t row = facts_.ledger().devices()[device].work[i].work.row;
        iterations_.emplace(row, facts_.iteration(row));
      }
      kernels_ += static_cast<std::int64_t>(run->size());
      longest_ = std::max(longest_, static_cast<std::int64_t>(run->size()));
      runs_.push_back({device, *run});
    }
    run->clear();
  }

  // All of a run but the longest kernel of each iteration could go: what an iteration does takes one at least.
  void take_work(const Run& run, bool across, Claim* claim, WorkTally* tally) const {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[run.device].work;
    const auto iteration = [&](std::size_t i) { return across ? Index() : iterations_.at(slots[i].work.row); };
    std::map<Index, std::size_t> longest;
    for (const std::size_t i : run.slots) {
      const auto at = longest.try_emplace(iteration(i), i).first;
      if (slots[i].open_ns > slots[at->second].open_ns) at->second = i;
    }
    for (const std::size_t i : run.slots) {
      tally->add(slots[i].work.row, slots[i].open_ns);
      if (longest.at(iteration(i)) != i) claim->take_work(run.device, i);
    }
  }

  Facts& facts_;
  std::vector<Run> runs_;
  std::unordered_map<std::uint32_t, std::int64_t> kernels_of_op_;  // by node of the op
  std::unordered_map<std::uint32_t, Index> iterations_;            // by row of the runs' kernels
  std::int64_t kernels_ = 0;
  std::int64_t longest_ = 0;  // kernels of one run
};

}  // namespace

std::optional<Finding> find_tiny_kernels(Facts& facts) {
  const Runs runs(facts);
  const bool each_iteration = runs.kernels() >= kLeastKernels * facts.ledger().rounds();
  // Where nothing marks iterations, a loop over tensors passes for one iteration per tensor: then the run itself is the
  // evidence.
  const bool one_loop = !each_iteration && is_guess(facts.model().iterations().rule) && runs.longest() >= kLeastKernels;
  if (runs.kernels() == 0 || !(each_iteration || one_loop)) return std::nullopt;
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  Removal gone;
  runs.take(one_loop, &claim, &tally, &gone);
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "long runs of kernels shorter than their launch: " +
                 (one_loop ? counted(runs.longest(), "kernel") + " in a row" : per_iteration(facts, runs.kernels(), "kernel")),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action = "replace the loop with one op: batch the tensors (torch.stack, torch._foreach_*, vmap), or compile the loop",
      .event = tally.event(),
      .comes_true = kOfLoop,
      .gone = gone};
}

}  // namespace ridge
