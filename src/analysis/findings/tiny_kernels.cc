// tiny_kernels: long runs of kernels, each shorter than the time it takes to launch it. What such a program lacks is larger
// ops, not faster launches. Compiled code is left to launch_bound: a compiler fused what it could, and what remains of it is
// launched faster, not written otherwise. So are the many kernels of one op (a recurrent layer of cuDNN): the program has no
// loop there.
//
// Where the host goes through the same ops round after round (host_loops.h) it is a loop for certain, and one op over all
// rounds takes the host what one round does: all but one of them go. Of its kernels that goes which any takes, however little
// it does.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "analysis/findings/catalog.h"
#include "analysis/findings/ddp_copies.h"
#include "analysis/findings/host_gone.h"
#include "analysis/findings/host_loops.h"
#include "base/hash.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

// A launch costs the host 3 to 10 us and the device 1 to 3 us. Models whose layers are small (DenseNet at batch 1) mix such
// kernels with longer ones every dozen launches; a loop over small tensors does not.
constexpr std::int64_t kTinyNs = 5'000;
// One kernel again and again is a loop over tensors: with stacks and shapes recorded its launch takes this long.
constexpr std::int64_t kTinyInLoopNs = 15'000;
constexpr std::size_t kLeastApart = 12, kMostApart = 64;  // launches from a longer one of a loop to the next
constexpr std::size_t kRound = 6;                         // kernels by which a round is known again
constexpr std::int64_t kTinyInRoundNs = 8'000;
// Of a run that goes: one op for all still walks the tensors, and a recurrent layer of a library goes from step to step.
constexpr double kOfLoop = 0.85;
// What is left of a loop depends on how it is written anew, and on what recording cost it: of fourteen recordings that
// docs/accuracy.md calls read, 21 points too little to 7 too much.
constexpr double kLoopDoubt = 0.35;
constexpr std::int64_t kLeastOfKernelNs = 2'500;  // what any kernel takes, with little to do
constexpr std::size_t kLeastRun = 32;
constexpr std::int64_t kLeastKernels = 100;  // an iteration

// In names of ops: layers with weights of their own, and of autograd's nodes. Round after round of these are the layers of a
// model, which wait for each other, unless what they made is put together (HostLoop::gathered).
constexpr std::string_view kLayers[] = {"aten::linear", "conv",      "layer_norm",         "batch_norm",    "group_norm",
                                        "rms_norm",     "embedding", "AccumulateGrad",     "AddmmBackward", "LayerNormBackward",
                                        "NormBackward", "RmsNorm",   "ConvolutionBackward"};
bool is_cell(std::string_view op) { return op.find("_cell") != op.npos || op.find("CellBackward") != op.npos; }
bool is_layer(std::string_view op) {
  return std::ranges::any_of(kLayers, [&](std::string_view part) { return op.find(part) != op.npos; });
}

// Loops of the host whose kernels are tiny, and the kernels.
class TinyLoops {
 public:
  explicit TinyLoops(Facts& facts) : facts_(facts), loops_(find_host_loops(facts)) {
    // What an optimizer of PyTorch's does is optimizer_not_fused's to say.
    std::erase_if(loops_, [&](const HostLoop& loop) {
      const auto any = [&](bool (*is)(std::string_view)) {
        return std::ranges::any_of(loop.round, [&](NodeId op) { return is(facts.name(op)); });
      };
      return facts.phase(loop.first) == Phase::optimizer || (!loop.gathered && any(is_layer) && !any(is_cell));
    });
    if (loops_.empty()) return;
    seen_.resize(loops_.size());
    holds_.resize(facts.work().events.size());
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
      const std::vector<WorkSlot>& slots = facts.ledger().devices()[d].work;
      for (std::size_t i = 0; i < slots.size(); ++i) look_at(d, i, slots[i]);
    }
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (!is_tiny(i)) continue;
      kernels_ += static_cast<std::int64_t>(seen_[i].slots.size());
      for (const auto& [d, slot] : seen_[i].slots) holds_[facts.ledger().devices()[d].work[slot].work.row] = true;
    }
  }

  std::int64_t kernels() const { return kernels_; }
  bool holds(std::uint32_t row) const { return row < holds_.size() && holds_[row]; }

  void take(Claim* claim, WorkTally* tally, DdpCopies* ddp, Removal* gone) const {
    HostGone host(facts_);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (!is_tiny(i)) continue;
      for (const auto& [d, slot] : seen_[i].slots) {
        ddp->see(facts_.ledger().devices()[d].work[slot].work.row);
        take(i, d, slot, claim, tally, gone);
      }
      gone->host.push_back({loops_[i].thread, loops_[i].time, goes(i)});
      host.add(loops_[i].first, loops_[i].time);
    }
    for_each_open_idle(facts_.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
      const bool between = is_late(slot.piece.cause) || slot.piece.cause == IdleCause::kernel_gap;
      if (between && (holds(slot.next_work) || holds(slot.last_work))) claim->reach_idle(d, i);
    });
    host.reach(claim);
  }

 private:
  struct Seen {
    std::vector<std::pair<std::size_t, std::size_t>> slots;  // device, slot
    std::int64_t ns = 0;
  };

  void look_at(std::size_t device, std::size_t i, const WorkSlot& slot) {
    const NodeId launch = facts_.launch(slot.work.row);
    const bool kernel =
        slot.work.sort == WorkSort::compute ||
        (slot.work.sort == WorkSort::copy && facts_.kernel(slot.work.row).find("DtoD") != std::string_view::npos);
    if (!kernel || launch == kNoNode || launch.value >= facts_.tree().recorded || slot.open_ns != slot.owned_ns) return;
    if (facts_.by_graph_launch(slot.work.row) || facts_.identity(slot.work.row).library == "inductor" ||
        facts_.model().compiled_regions().call_at(launch) != kNoCall)
      return;
    const auto thread = static_cast<std::uint32_t>(thread_of(facts_.tree(), launch));
    const std::int64_t at = facts_.time(launch).start_ns;
    const auto after = std::upper_bound(
        loops_.begin(), loops_.end(), std::pair(thread, at),
        [](const auto& key, const HostLoop& loop) { return key < std::pair(loop.thread, loop.time.start_ns); });
    if (after == loops_.begin()) return;
    const auto loop = std::prev(after);
    if (loop->thread != thread || loop->time.end_ns <= at) return;
    Seen& seen = seen_[static_cast<std::size_t>(loop - loops_.begin())];
    seen.slots.emplace_back(device, i);
    seen.ns += slot.work.end_ns - slot.work.start_ns;
  }

  // In the mean, and the host takes longer than the device.
  bool is_tiny(std::size_t i) const {
    const auto kernels = static_cast<std::int64_t>(seen_[i].slots.size());
    const std::int64_t most_ns = loops_[i].gathered ? kTinyInLoopNs : kTinyNs;
    return kernels >= static_cast<std::int64_t>(loops_[i].rounds) && seen_[i].ns <= kernels * most_ns &&
           seen_[i].ns * 2 <= loops_[i].time.length();
  }

  // The share of the host's time: all rounds but one. A list of parameters that are written in place is walked by one op too;
  // cells of a recurrent layer stay steps.
  double goes(std::size_t i) const {
    std::size_t in_place = 0;
    bool cell = false;
    for (const NodeId op : loops_[i].round) {
      const std::string_view name = facts_.name(op);
      if (name.ends_with('_')) ++in_place;
      cell = cell || is_cell(name);
    }
    if (cell || in_place * 2 > loops_[i].round.size()) return kOfLoop;
    return 1 - 1 / static_cast<double>(loops_[i].rounds);
  }

  void take(std::size_t loop, std::size_t device, std::size_t i, Claim* claim, WorkTally* tally, Removal* gone) const {
    const WorkSlot& slot = facts_.ledger().devices()[device].work[i];
    tally->add(slot.work.row, slot.open_ns);
    if (seen_[loop].slots.front() == std::pair(device, i)) return;  // one is left
    gone->gaps.push_back({slot.work.row, INT64_MAX / 4});
    claim->take_work(device, i, slot.open_ns, std::min(slot.open_ns, kLeastOfKernelNs));
  }

  Facts& facts_;
  std::vector<HostLoop> loops_;
  std::vector<Seen> seen_;   // by loop
  std::vector<bool> holds_;  // by row
  std::int64_t kernels_ = 0;
};

class Runs {
 public:
  Runs(Facts& facts, const TinyLoops& loops)
      : facts_(facts), loops_(loops), iteration_of_(facts.work().events.size(), kInNoRun) {
    find_long_ops();
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) walk(d);
  }

  std::int64_t kernels() const { return kernels_; }
  std::int64_t longest() const { return longest_; }

  // `across`: iterations are none, and a run is one loop from its first kernel to its last.
  void take(bool across, Claim* claim, WorkTally* tally, DdpCopies* ddp, Removal* gone) const {
    for (const Run& run : runs_) {
      for (const std::size_t i : run.slots) ddp->see(facts_.ledger().devices()[run.device].work[i].work.row);
      take_work(run, across, claim, tally);
    }
    for_each_open_idle(facts_.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
      const bool between = is_late(slot.piece.cause) || slot.piece.cause == IdleCause::kernel_gap;
      const std::uint32_t last = iteration_of(slot.last_work), next = iteration_of(slot.next_work);
      if (!between || last == kInNoRun || next == kInNoRun) return;
      if (!across && last != next) return;
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
  // In the place of an iteration's index: of a kernel in none, and of one in no run.
  static constexpr std::uint32_t kInNoIteration = UINT32_MAX - 1, kInNoRun = UINT32_MAX;
  struct Run {
    std::size_t device;
    std::vector<std::size_t> slots;
  };

  void find_long_ops() {
    std::vector<std::uint32_t> ops;  // of every kernel
    for (const DeviceLedger& device : facts_.ledger().devices()) {
      for (const WorkSlot& slot : device.work) ops.push_back(facts_.op(slot.work.row).value);
    }
    std::ranges::sort(ops);
    for (std::size_t first = 0, last = 0; first < ops.size(); first = last) {
      while (last < ops.size() && ops[last] == ops[first]) ++last;
      if (last - first >= kLeastRun && NodeId{ops[first]} != kNoNode) long_ops_.push_back(ops[first]);
    }
  }

  std::uint32_t iteration_of(std::uint32_t row) const { return row == kNoWork ? kInNoRun : iteration_of_[row]; }

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
           !loops_.holds(slot.work.row) && facts_.launch(slot.work.row) != kNoNode && !facts_.by_graph_launch(slot.work.row) &&
           !is_compiled(slot.work.row) && !is_of_one_op(slot.work.row);
  }
  bool is_of_one_op(std::uint32_t row) const { return std::ranges::binary_search(long_ops_, facts_.op(row).value); }
  bool is_compiled(std::uint32_t row) const {
    return facts_.identity(row).library == "inductor" ||
           facts_.model().compiled_regions().call_at(facts_.launch(row)) != kNoCall;
  }

  // Half of it comes again within kMostApart kernels, as rounds of a loop do; kernels one after the other that a program wrote
  // out are chains, which a compiler fuses.
  bool is_loop(std::size_t device, const std::vector<std::size_t>& run) const {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::vector<std::uint32_t> names;
    for (const std::size_t i : run) names.push_back(name(slots, i).value);
    std::unordered_map<std::uint64_t, std::size_t> seen;  // windows of kRound kernels, where they were last
    std::size_t again = 0, covered = 0;
    for (std::size_t end = kRound; end <= names.size(); ++end) {
      std::uint64_t key = 0;
      for (std::size_t i = end - kRound; i < end; ++i) key = mix64(key ^ names[i], 0xD6E8FEB86659FD93);
      const auto [at, fresh] = seen.try_emplace(key, end);
      if (!fresh && end - at->second <= kMostApart) {
        again += end - std::max(covered, end - kRound);
        covered = end;
      }
      at->second = end;
    }
    return again * 2 >= names.size();
  }

  void close(std::size_t device, std::vector<std::size_t>* run) {
    if (run->size() >= kLeastRun && is_loop(device, *run)) {
      for (const std::size_t i : *run) {
        const std::uint32_t row = facts_.ledger().devices()[device].work[i].work.row;
        iteration_of_[row] = static_cast<std::uint32_t>(facts_.iteration(row).value_or(kInNoIteration));
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
    const auto iteration = [&](std::size_t i) { return across ? kInNoIteration : iteration_of_[slots[i].work.row]; };
    std::map<std::uint32_t, std::size_t> longest;
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
  const TinyLoops& loops_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> long_ops_;      // nodes of ops that launch kLeastRun kernels or more, in order
  std::vector<std::uint32_t> iteration_of_;  // by row
  std::int64_t kernels_ = 0;
  std::int64_t longest_ = 0;  // kernels of one run
};

}  // namespace

std::optional<Finding> find_tiny_kernels(Facts& facts) {
  const TinyLoops loops(facts);
  const Runs runs(facts, loops);
  const std::int64_t kernels = runs.kernels() + loops.kernels();
  const bool each_iteration = kernels >= kLeastKernels * facts.ledger().rounds();
  // Where nothing marks iterations, a loop over tensors passes for one iteration per tensor: then the run itself is the
  // evidence.
  const bool one_loop = !each_iteration && is_guess(facts.model().iterations().rule) && runs.longest() >= kLeastKernels;
  if (kernels == 0 || !(each_iteration || one_loop)) return std::nullopt;
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  DdpCopies ddp(facts);
  Removal gone;
  loops.take(&claim, &tally, &ddp, &gone);
  runs.take(one_loop, &claim, &tally, &ddp, &gone);
  if (!claim.keep()) return std::nullopt;
  const std::string of_ddp = ddp.remedy();
  return Finding{
      .finding = "long runs of kernels shorter than their launch: " +
                 (one_loop ? counted(runs.longest(), "kernel") + " in a row" : per_iteration(facts, kernels, "kernel")),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action = !of_ddp.empty() ? of_ddp
                                : "replace the loop with one op: batch the tensors (torch.stack, torch._foreach_*, vmap), or "
                                  "compile the loop",
      .event = tally.event(),
      .comes_true = kOfLoop,
      .gone = gone,
      .doubt = kLoopDoubt};
}

}  // namespace ridge
