// unfused_pointwise: eager kernels that compute element by element, move or sum up, each reading and writing memory for itself,
// where a compiler would write few kernels that read what none of them made and write what none of them reads
// (compiled_form.h). Kernels that one compiled graph launched stand apart by choice; what a graph break splits could be one.
//
// It is said where several such kernels could be one; what is claimed is all that the compiler would write anew, since who
// compiles a function compiles all of it. The bound: products, convolutions and attention stay, and what is compiled or copied
// between host and device; the rest may go.
#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/ddp_copies.h"
#include "analysis/findings/least_time.h"
#include "base/saturating.h"
#include "facts/break_costs.h"
#include "predict/compiled_form.h"
#include "predict/strided_views.h"

namespace ridge {
namespace {

// Of two kernels on both sides of a break: over tensors of one size they take about the same time, and one kernel takes what
// the longer does, and reads inputs of the other besides.
constexpr std::int64_t kAlike = 4;
constexpr double kMoreThanLongest = 0.12;
// A compiler may fuse more than is told: losses and softmaxes around it, and the host's work with them.
constexpr double kChainDoubt = 0.4;
// Of the host's time for a call that stays, a library's or of a kernel that is written anew, what eager dispatch and autograd
// take and generated code does not. Where what is written anew is at least that part of all calls.
constexpr double kOfEagerCall = 0.3, kOfAllCalls = 0.33;
// Inductor pads products whose rows are not aligned, as gemm_alignment advises; the padding costs it a part of what that saves.
constexpr double kOfPadding = 0.6;

std::uint32_t graph_of(const Facts& facts, std::uint32_t row) {
  return facts.model().compiled_regions().call_at(facts.launch(row));
}

class Fusible {
 public:
  Fusible(Facts& facts, Claim& claim)
      : facts_(facts),
        claim_(claim),
        forms_(facts.scope()),
        ddp_(facts),
        tally_(facts),
        fused_ns_(facts.ledger().devices().size()),
        rows_(facts.work().events.size()) {
    for (const CompiledCall& call : facts.model().compiled_regions().calls) {
      const auto own = static_cast<std::uint32_t>(outermost_.size());
      outermost_.push_back(call.parent == kNoCall ? own : outermost_[call.parent]);
    }
  }

  // What would be compiled to fewer kernels, and what stands alone, written anew.
  void take_eager(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    slot_of_.resize(facts_.work().events.size(), kNoSlot);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].owned_ns > 0) slot_of_[slots[i].work.row] = static_cast<std::uint32_t>(i);
    }
    const CompiledForm form = forms_.of(facts_.ledger().devices()[device].device);
    std::vector<std::size_t> kernels, ends;  // of a group, and where each of its parts ends among them
    for (std::size_t i = 0; i < form.kernels.size();) {
      const std::uint32_t at = form.kernels[i].group;
      kernels.clear();
      ends.clear();
      for (; i < form.kernels.size() && form.kernels[i].group == at; ++i) {
        const std::uint32_t row = form.kernels[i].row;
        // Whoever compiles the model leaves the copies around it that DistributedDataParallel makes.
        if (slot_of_[row] != kNoSlot && !ddp_.are_its_own(row)) kernels.push_back(slot_of_[row]);
        const bool ends_here = i + 1 == form.kernels.size() || form.kernels[i + 1].part != form.kernels[i].part;
        if (ends_here && kernels.size() > (ends.empty() ? 0 : ends.back())) ends.push_back(kernels.size());
      }
      const GeneratedKernels& group = form.groups[at];
      if (kernels.empty() || group.left_ns >= group.now_ns) continue;
      take_parts(device, kernels, ends, group.left_ns / group.now_ns);
    }
    for (const WorkSlot& slot : slots) slot_of_[slot.work.row] = kNoSlot;
  }

  // Kernels of two graphs of one frame with nothing but a break between them.
  void take_across_breaks(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::int64_t, std::vector<std::size_t>> open;  // by stream
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::vector<std::size_t>& chain = open[slots[i].work.stream];
      const bool pointwise = is_compiled_pointwise(slots[i]);
      if (!chain.empty() && (!pointwise || !is_behind_a_break(slots[chain.back()], slots[i]))) close(device, &chain);
      if (pointwise) chain.push_back(i);
    }
    for (auto& [stream, chain] : open) close(device, &chain);
  }

  // Where much is fused the whole is compiled: generated code calls what stays, and one launch of what becomes one.
  void call_by_generated_code() {
    std::size_t all = 0, anew = 0;
    for (const DeviceLedger& device : facts_.ledger().devices()) {
      for (const WorkSlot& slot : device.work) {
        if (!is_eager(slot)) continue;
        ++all;
        if (rows_[slot.work.row]) ++anew;
        calls_.push_back({slot.work.row, kOfEagerCall});
        if (!rows_[slot.work.row]) pad(slot);
      }
    }
    if (static_cast<double>(anew) >= kOfAllCalls * static_cast<double>(all)) return;
    calls_.clear();
    padded_.clear();
  }

  std::vector<Removal::Work> beside() const {
    std::vector<Removal::Work> out = beside_;
    out.insert(out.end(), padded_.begin(), padded_.end());
    return out;
  }
  const std::vector<Removal::Call>& calls() const { return calls_; }
  std::int64_t chains() const { return chains_; }    // of several kernels that become one
  std::int64_t kernels() const { return kernels_; }  // in these
  // Of the device of which that is most.
  std::int64_t fused_ns() const { return fused_ns_.empty() ? 0 : *std::ranges::max_element(fused_ns_); }
  bool split_by_break() const { return split_by_break_; }
  const std::vector<bool>& rows() const { return rows_; }
  const WorkTally& tally() const { return tally_; }

 private:
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  bool is_eager(const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    const NodeId launch = facts_.launch(row);
    return slot.work.sort == WorkSort::compute && facts_.op(row) != kNoNode && !facts_.by_graph_launch(row) &&
           graph_of(facts_, row) == kNoCall && facts_.phase(launch) != Phase::optimizer && !ddp_.are_its_own(row);
  }

  void pad(const WorkSlot& slot) {
    const DType dtype = facts_.scope().costs()[slot.work.row].dtype;
    const bool half = dtype == DType::bf16 || dtype == DType::f16;
    const std::int64_t claimed = slot.owned_ns - slot.open_ns;  // of such products by gemm_alignment alone
    if (!half || claimed <= 0 || facts_.identity(slot.work.row).category != Category::gemm) return;
    padded_.push_back({slot.work.row, static_cast<std::int64_t>(kOfPadding * static_cast<double>(claimed)), true, false});
  }

  bool is_compiled_pointwise(const WorkSlot& slot) const {
    const std::uint32_t row = slot.work.row;
    return slot.work.sort == WorkSort::compute && slot.owned_ns > 0 && !facts_.by_graph_launch(row) &&
           facts_.identity(row).category == Category::triton_pointwise && graph_of(facts_, row) != kNoCall;
  }

  // Nothing fuses across threads, and iterations are called one by one.
  bool is_behind_a_break(const WorkSlot& a, const WorkSlot& b) const {
    const auto thread = [&](const WorkSlot& slot) { return thread_of(facts_.tree(), facts_.launch(slot.work.row)); };
    const std::uint32_t from = graph_of(facts_, a.work.row), to = graph_of(facts_, b.work.row);
    const auto [least, most] = std::minmax(a.owned_ns, b.owned_ns);
    return from != to && frame_of(from) == frame_of(to) && thread(a) == thread(b) &&
           facts_.iteration(a.work.row) == facts_.iteration(b.work.row) && most <= kAlike * least;
  }
  // The outermost compiled call around a graph: what a break splits.
  std::uint32_t frame_of(std::uint32_t call) const { return call == kNoCall ? kNoCall : outermost_[call]; }
  void close(std::size_t device, std::vector<std::size_t>* chain) {
    const std::vector<std::size_t> done = std::exchange(*chain, {});
    if (done.size() < 2) return;
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::int64_t longest = 0;
    for (const std::size_t i : done) longest = std::max(longest, slots[i].owned_ns);
    split_by_break_ = true;
    take(device, done, longest + static_cast<std::int64_t>(kMoreThanLongest * static_cast<double>(longest)), true);
    count(done.size());
  }

  // Each part of a group is a kernel of its own, and one launch of it stays.
  void take_parts(std::size_t device, std::span<const std::size_t> kernels, std::span<const std::size_t> ends, double left) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    const bool fused = fuses(slots, kernels);
    std::size_t first = 0;
    for (const std::size_t end : ends) {
      const auto part = kernels.subspan(first, end - first);
      double owned = 0;
      for (const std::size_t i : part) owned += static_cast<double>(slots[i].owned_ns);
      take(device, part, static_cast<std::int64_t>(left * owned), fused);
      first = end;
    }
    if (fused) count(kernels.size());
  }

  void count(std::size_t kernels) {
    ++chains_;
    kernels_ += static_cast<std::int64_t>(kernels);
  }

  // Copies alone move data to where it is wanted; they fuse with arithmetic only. One kernel again and again is a loop over
  // tensors, or a benchmark.
  bool fuses(const std::vector<WorkSlot>& slots, std::span<const std::size_t> kernels) const {
    bool arithmetic = false, varied = false;
    for (const std::size_t i : kernels) {
      arithmetic = arithmetic || facts_.identity(slots[i].work.row).category == Category::elementwise;
      varied = varied || facts_.kernel_id(slots[i].work.row) != facts_.kernel_id(slots[kernels.front()].work.row);
    }
    return arithmetic && varied;
  }

  // Of a kernel that computes, and reads one tensor across for that, or columns of rows, what is beyond its traffic is
  // memory_bound_inefficient's, whoever fuses it: most of its time.
  std::int64_t own_ns(const WorkSlot& slot) {
    constexpr double kMostLeft = 0.6;
    const bool computes = facts_.identity(slot.work.row).category == Category::elementwise;
    const ExpectedCall* ran = computes ? facts_.ran(slot.work.row) : nullptr;
    const auto roof = facts_.scope().costs().roof(slot.work.row).roof_ns;
    const bool apart = ran != nullptr && has_apart(ran->call->call);
    if (ran == nullptr || !roof || (!apart && !lies_across(ran->call->call))) return slot.open_ns;
    const auto left = facts_.would_take().left_of(*ran, contiguous(ran->call->call), false);
    if (left && apart) return static_cast<std::int64_t>(left->part * static_cast<double>(slot.open_ns));
    return left && left->part < kMostLeft ? std::min(slot.open_ns, static_cast<std::int64_t>(*roof)) : slot.open_ns;
  }

  void take(std::size_t device, std::span<const std::size_t> kernels, std::int64_t left, bool fuses) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::size_t, std::int64_t> own;
    for (const std::size_t i : kernels) own[i] = own_ns(slots[i]);
    // The longest first, so that the launch that stays is its own.
    const std::size_t longest =
        *std::ranges::max_element(kernels, [&](std::size_t a, std::size_t b) { return own[a] < own[b]; });
    const std::int64_t of_longest = std::min(left, own[longest]);
    left -= of_longest;
    const std::size_t first_beside = beside_.size();
    for (const std::size_t i : kernels) {
      const std::int64_t open = own[i], stays = i == longest ? of_longest : std::min(open, left);
      if (i != longest) left -= stays;
      if (fuses) tally_.add(slots[i].work.row, slots[i].owned_ns);  // also what another finding claims of it
      if (open > 0) {
        rows_[slots[i].work.row] = true;
        claim_.take_work(device, i, open, open - stays);
        if (fuses) saturating_add(&fused_ns_[device], open - stays);
      }
      // What another finding claims of it goes with it: a fused kernel does not walk memory across, nor cast and cast back.
      if (fuses && slots[i].owned_ns > open)
        beside_.push_back({slots[i].work.row, slots[i].owned_ns - open, true, open == 0 && i != longest});
    }
    for (std::size_t i = beside_.size(); left > 0 && i-- > first_beside;) {
      const std::int64_t stays = std::min(left, beside_[i].ns);
      beside_[i].ns -= stays;
      left -= stays;
    }
  }

  Facts& facts_;
  Claim& claim_;
  CompiledForms forms_;
  DdpCopies ddp_;
  std::vector<std::uint32_t> slot_of_;  // by row, of the device that is looked at
  WorkTally tally_;
  std::int64_t chains_ = 0, kernels_ = 0;
  std::vector<std::int64_t> fused_ns_;  // by device
  bool split_by_break_ = false;
  std::vector<Removal::Work> beside_, padded_;
  std::vector<Removal::Call> calls_;
  std::vector<bool> rows_;                // by row: it is written anew
  std::vector<std::uint32_t> outermost_;  // by compiled call: the one around all
};

}  // namespace

std::optional<Finding> find_unfused_pointwise(Facts& facts) {
  Claim claim(facts.ledger());
  Fusible fusible(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
    fusible.take_eager(d);
    fusible.take_across_breaks(d);
  }
  fusible.call_by_generated_code();
  const std::int64_t least_ns = std::max(facts.ledger().least_ns(), facts.ledger().least_work_ns());
  if (fusible.chains() == 0 || fusible.fused_ns() < least_ns || !claim.keep()) return std::nullopt;
  reach_compiled(facts, fusible.rows(), &claim);  // that bounds it
  return Finding{.finding = "pointwise kernels that could be fused: " + per_iteration(facts, fusible.kernels(), "kernel") +
                            fmt::format(" in chains of {}", fusible.kernels() / fusible.chains()),
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::medium,
                 .evidence = fusible.tally().text(),
                 .action = fusible.split_by_break()
                               ? "remove the graph break between them, so that Inductor can fuse across it"
                               : "compile the model with its loss, or the function around these lines, with torch.compile: the "
                                 "chain becomes one kernel, and what is around it is fused too; the optimizer stays outside",
                 .event = fusible.tally().event(),
                 .gone = {.work = fusible.beside(), .calls = fusible.calls(), .host = {}, .waits = {}, .gaps = {}},
                 .doubt = kChainDoubt};
}

}  // namespace ridge
