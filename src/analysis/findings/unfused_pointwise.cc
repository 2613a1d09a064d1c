// unfused_pointwise: pointwise kernels in a row on one stream over tensors of one size. Each reads and writes memory for
// itself; one fused kernel takes at least as long as the longest of them, so that the others bound what fusion saves. Kernels
// that one compiled graph launched stand apart by choice.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr std::int64_t kAlike = 4;
// One kernel is left of a chain. It takes what the longest takes now, and reads inputs of the others besides.
constexpr double kMoreThanLongest = 0.12;

class Chains {
 public:
  Chains(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts) {}

  void walk(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::int64_t, std::vector<std::size_t>> open;  // the chain at the end of each stream
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::vector<std::size_t>& chain = open[slots[i].work.stream];
      if (!is_pointwise(slots[i])) {
        close(device, &chain);
        continue;
      }
      if (!chain.empty() && !goes_on(slots[chain.back()], slots[i])) close(device, &chain);
      chain.push_back(i);
    }
    for (auto& [stream, chain] : open) close(device, &chain);
  }

  std::int64_t chains() const { return chains_; }
  std::int64_t saved_ns() const { return saved_ns_; }
  std::int64_t kernels() const { return kernels_; }
  bool split_by_break() const { return split_by_break_; }
  const WorkTally& tally() const { return tally_; }

 private:
  bool is_pointwise(const WorkSlot& slot) {
    if (slot.work.sort != WorkSort::compute || slot.open_ns == 0) return false;
    const std::uint32_t row = slot.work.row;
    if (facts_.op(row) == kNoNode || facts_.by_graph_launch(row)) return false;
    if (facts_.phase(facts_.launch(row)) == Phase::optimizer) return false;
    const KernelIdentity& kernel = facts_.identity(row);
    if (kernel.category == Category::triton_pointwise) return graph_of(row) != kNoCall;
    // "foreach" covers many tensors already; "copy" within copy_ is a cast or a layout change, which fuses as well.
    if (kernel.category == Category::elementwise) return kernel.library == "aten" && kernel.label.starts_with("elementwise");
    return kernel.category == Category::layout && kernel.label.starts_with("copy");
  }

  std::uint32_t graph_of(std::uint32_t row) const { return facts_.model().compiled_regions().call_at(facts_.launch(row)); }

  // The outermost compiled call around a graph: what a break splits.
  std::uint32_t frame_of(std::uint32_t call) const {
    const std::vector<CompiledCall>& calls = facts_.model().compiled_regions().calls;
    while (call != kNoCall && calls[call].parent != kNoCall) call = calls[call].parent;
    return call;
  }

  bool computes(const WorkSlot& slot) const { return facts_.identity(slot.work.row).category != Category::layout; }
  bool is_inductor(const WorkSlot& slot) const { return facts_.identity(slot.work.row).category == Category::triton_pointwise; }

  // Iterations are called one by one: nothing fuses across them.
  bool same_iteration(const WorkSlot& a, const WorkSlot& b) const {
    const Iterations& iterations = facts_.model().iterations();
    const auto of = [&](const WorkSlot& slot) { return iterations.at(facts_.time(facts_.launch(slot.work.row)).start_ns); };
    return iterations.count() <= 1 || of(a) == of(b);
  }

  bool goes_on(const WorkSlot& a, const WorkSlot& b) {
    if (!same_iteration(a, b)) return false;
    if (is_inductor(a) && is_inductor(b)) {
      const std::uint32_t from = graph_of(a.work.row), to = graph_of(b.work.row);
      if (from == to || frame_of(from) != frame_of(to)) return false;
    }
    const double elements = facts_.elements(a.work.row);
    if (elements > 0 || facts_.elements(b.work.row) > 0) return elements == facts_.elements(b.work.row);
    // Without shapes: kernels over tensors of one size take about the same time.
    const auto [least, most] = std::minmax(a.owned_ns, b.owned_ns);
    return most <= kAlike * least;
  }

  void close(std::size_t device, std::vector<std::size_t>* chain) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    // Copies alone move data to where it is wanted; they fuse with arithmetic only. One kernel again and again is a loop over
    // tensors, or a benchmark.
    const bool arithmetic = std::any_of(chain->begin(), chain->end(), [&](std::size_t i) { return computes(slots[i]); });
    const bool varied = std::any_of(chain->begin(), chain->end(), [&](std::size_t i) {
      return facts_.kernel_id(slots[i].work.row) != facts_.kernel_id(slots[chain->front()].work.row);
    });
    if (arithmetic && varied) take(device, *chain);
    chain->clear();
  }

  void take(std::size_t device, const std::vector<std::size_t>& chain) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    const std::size_t longest = *std::max_element(
        chain.begin(), chain.end(), [&](std::size_t a, std::size_t b) { return slots[a].open_ns < slots[b].open_ns; });
    auto more = static_cast<std::int64_t>(kMoreThanLongest * static_cast<double>(slots[longest].open_ns));
    for (const std::size_t i : chain) {
      tally_.add(slots[i].work.row, slots[i].open_ns);
      split_by_break_ = split_by_break_ || is_inductor(slots[i]);
      const std::int64_t open = slots[i].open_ns, stays = i == longest ? open : std::min(open, more);
      if (i != longest) more -= stays;
      claim_.take_work(device, i, open, open - stays);
      saturating_add(&saved_ns_, open - stays);
    }
    ++chains_;
    kernels_ += static_cast<std::int64_t>(chain.size());
  }

  Facts& facts_;
  Claim& claim_;
  WorkTally tally_;
  std::int64_t chains_ = 0, kernels_ = 0;
  std::int64_t saved_ns_ = 0;
  bool split_by_break_ = false;
};

}  // namespace

std::optional<Finding> find_unfused_pointwise(Facts& facts) {
  Claim claim(facts.ledger());
  Chains chains(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) chains.walk(d);
  const std::int64_t least_ns = std::max(facts.ledger().least_ns(), facts.ledger().least_work_ns());
  if (chains.chains() == 0 || chains.saved_ns() < least_ns || !claim.keep()) return std::nullopt;
  return Finding{.finding = "pointwise kernels that could be fused: " + per_iteration(facts, chains.kernels(), "kernel") +
                            fmt::format(" in chains of {}", chains.kernels() / chains.chains()),
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::medium,
                 .evidence = chains.tally().text(),
                 .action = chains.split_by_break()
                               ? "remove the graph break between them, so that Inductor can fuse across it"
                               : "compile this part with torch.compile, which fuses the chain into one kernel",
                 .event = chains.tally().event()};
}

}  // namespace ridge
