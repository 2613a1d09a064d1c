// unfused_pointwise: pointwise kernels in a row on one stream over tensors of one size, parts of it, or a number a row: a norm
// written out, rotary positions, gates, sums along rays. Each reads and writes memory for itself; one fused kernel reads what
// none of them made and writes what none of them reads. Kernels that one compiled graph launched stand apart by choice.
//
// The bound: whoever compiles a part may compile all of it, and a compiler fuses all that is no product, convolution or
// attention. These stay, and what is compiled or copied between host and device; the rest may go.
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/fused_time.h"
#include "analysis/findings/least_time.h"
#include "base/saturating.h"
#include "facts/break_costs.h"
#include "predict/strided_views.h"

namespace ridge {
namespace {

constexpr std::int64_t kAlike = 4;
// A part of a tensor: halves and thirds that are put together again, gates of a recurrent cell.
constexpr double kMostParts = 4;
constexpr double kBlock = 4'096, kRounded = 0.002;  // elements: to what a grid is rounded up
// A compiler may fuse more than a chain: losses and softmaxes around it, and the host's work with them.
constexpr double kChainDoubt = 0.4;
// Of the host's time for a call that stays, what eager dispatch and autograd take and generated code does not; where chains are
// at least that part of all calls.
constexpr double kOfEagerCall = 0.3, kOfAllCalls = 0.33;
// What sums down the columns, written by a compiler: of the bandwidth; of its time, where its size is not told.
constexpr double kReachedByColumns = 0.6, kOfColumns = 0.5;

class Chains {
 public:
  Chains(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts), time_(facts) {}

  void walk(std::size_t device) {
    device_ = device;
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::int64_t, Open> open;  // by stream
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto& [chain, aside] = open[slots[i].work.stream];
      const Link link = link_of(facts_, slots[i]);
      if (link == Link::beside) continue;
      if (link == Link::columns) {
        columns_.emplace_back(device, i);
        continue;
      }
      if (link == Link::none || link == Link::product) {
        if (link == Link::none || !passes(chain, slots[i])) close(device, &chain);
        if (link == Link::none || !leaves(aside, slots[i])) close(device, &aside);
        continue;
      }
      if (chain.slots.empty() ? resumes(slots, aside, slots[i], link) : !goes_on(slots, chain, slots[i], link)) {
        std::swap(chain, aside);
        if (!chain.slots.empty() && !resumes(slots, chain, slots[i], link)) close(device, &chain);
      }
      add(slots, i, link, &chain);
    }
    for (auto& [stream, its] : open) {
      close(device, &its.chain);
      close(device, &its.aside);
    }
  }

  // What sums down the columns, eager: a generated kernel reads its input at the bandwidth, or a fused one does besides.
  void take_columns() {
    if (chains_ == 0) return;
    for (const auto& [device, i] : columns_) {
      const WorkSlot& slot = facts_.ledger().devices()[device].work[i];
      const auto roof = facts_.scope().costs().roof(slot.work.row).roof_ns;
      const double left = roof ? *roof / kReachedByColumns : kOfColumns * static_cast<double>(slot.open_ns);
      const std::int64_t open = slot.open_ns;  // as it is before the claim
      const auto stays = std::max(2 * kShortestKernelNs, static_cast<std::int64_t>(left));
      if (stays >= open) continue;
      tally_.add(slot.work.row, open);
      saturating_add(&saved_ns_, open - stays);
      claim_.take_work(device, i, open, open - stays);
      rows_.insert(slot.work.row);
    }
  }

  // Where much is fused the whole is compiled: generated code calls the products and convolutions that stay.
  std::vector<Removal::Call> called_by_generated_code() const {
    std::vector<Removal::Call> out;
    std::size_t all = 0;
    for (const DeviceLedger& device : facts_.ledger().devices()) {
      for (const WorkSlot& slot : device.work) {
        const std::uint32_t row = slot.work.row;
        if (!is_eager(slot)) continue;
        ++all;
        if (!rows_.contains(row)) out.push_back({row, kOfEagerCall});
      }
    }
    const bool whole = static_cast<double>(kernels_) >= kOfAllCalls * static_cast<double>(all);
    return whole ? out : std::vector<Removal::Call>();
  }

  std::int64_t chains() const { return chains_; }
  std::int64_t saved_ns() const { return saved_ns_; }
  std::int64_t kernels() const { return kernels_; }
  bool split_by_break() const { return split_by_break_; }
  const std::vector<Removal::Work>& beside() const { return beside_; }
  const std::unordered_set<std::uint32_t>& rows() const { return rows_; }
  const WorkTally& tally() const { return tally_; }

 private:
  struct Chain {
    std::vector<std::size_t> slots;
    std::vector<Link> links;  // of each
    double elements = 0;      // of its largest tensor; 0 when not recorded
    std::int64_t longest_ns = 0;
    bool reduced = false;  // a reduction is part of it: what follows may be a row's
  };

  // At the end of a stream. A kernel over tensors of another size need not end a chain: the next may go on with what it made.
  struct Open {
    Chain chain, aside;
  };

  // A product that reads none of what the chain makes: a gate is computed beside what it opens, and a compiler takes both
  // behind the product.
  bool passes(const Chain& chain, const WorkSlot& slot) {
    return !chain.slots.empty() && chain.elements > 0 && has_shapes(slot) && !reads_its_size(chain, slot);
  }
  // Where shapes are not recorded a product is taken to read what was made last: nothing of a chain that was left for another.
  bool leaves(const Chain& aside, const WorkSlot& slot) {
    return aside.slots.empty() || !has_shapes(slot) || !reads_its_size(aside, slot);
  }
  bool has_shapes(const WorkSlot& slot) {
    return facts_.op(slot.work.row) != kNoNode && facts_.call(facts_.op(slot.work.row)).has_shapes;
  }
  bool reads_its_size(const Chain& chain, const WorkSlot& slot) {
    const WorkSlot& last = facts_.ledger().devices()[device_].work[chain.slots.back()];
    const double made = facts_.elements(last.work.row);
    return std::ranges::any_of(facts_.call(facts_.op(slot.work.row)).arguments, [&](const OpArgument& argument) {
      const double its = argument.kind == OpArgument::Kind::tensor ? numel(argument.tensor) : 0;
      return its > 0 && (its == chain.elements || its == made);
    });
  }

  // The outermost compiled call around a graph: what a break splits.
  std::uint32_t frame_of(std::uint32_t call) const {
    const std::vector<CompiledCall>& calls = facts_.model().compiled_regions().calls;
    while (call != kNoCall && calls[call].parent != kNoCall) call = calls[call].parent;
    return call;
  }

  bool is_eager(const WorkSlot& slot) const {
    const std::uint32_t row = slot.work.row;
    const NodeId launch = facts_.launch(row);
    return slot.work.sort == WorkSort::compute && facts_.op(row) != kNoNode && !facts_.by_graph_launch(row) &&
           graph_of(facts_, row) == kNoCall && facts_.phase(launch) != Phase::optimizer;
  }

  bool is_inductor(const WorkSlot& slot) const { return facts_.identity(slot.work.row).category == Category::triton_pointwise; }

  // A loop over tensors of several sizes updates each in place.
  bool is_in_place(const WorkSlot& slot) const {
    const std::string_view op = facts_.name(facts_.op(slot.work.row));
    return op.ends_with('_') && op != "aten::copy_";
  }

  // Nothing fuses across threads: the backward pass is a program of its own.
  bool same_thread(const WorkSlot& a, const WorkSlot& b) const {
    const auto of = [&](const WorkSlot& slot) { return thread_of(facts_.tree(), facts_.launch(slot.work.row)); };
    return of(a) == of(b);
  }
  // Iterations are called one by one: nothing fuses across them.
  bool same_iteration(const WorkSlot& a, const WorkSlot& b) const {
    const Iterations& iterations = facts_.model().iterations();
    const auto of = [&](const WorkSlot& slot) { return iterations.at(facts_.time(facts_.launch(slot.work.row)).start_ns); };
    return iterations.count() <= 1 || of(a) == of(b);
  }

  bool goes_on(const std::vector<WorkSlot>& slots, const Chain& chain, const WorkSlot& b, Link link) {
    const WorkSlot& a = slots[chain.slots.back()];
    if (!same_thread(a, b) || !same_iteration(a, b)) return false;
    if (is_inductor(a) && is_inductor(b)) {
      const std::uint32_t from = graph_of(facts_, a.work.row), to = graph_of(facts_, b.work.row);
      if (from == to || frame_of(from) != frame_of(to)) return false;
    }
    const double whole = chain.elements, its = time_.elements(b.work.row);
    if (whole > 0 && its > 0 && (facts_.elements(a.work.row) == 0 || facts_.elements(b.work.row) == 0))
      return is_about(whole, its) || (link != Link::reduces && link != Link::scans && is_about_part(chain, its));
    if (whole > 0 && its > 0) return whole == its || (link != Link::reduces && link != Link::scans && is_part(chain, b, its));
    if ((whole > 0 || its > 0) && (facts_.elements(a.work.row) > 0 || facts_.elements(b.work.row) > 0))
      return link == Link::copies || link == Link::joins;  // of a list of tensors
    // Without shapes: kernels over tensors of one size take about the same time, but for what a reduction leaves.
    const auto [least, most] = std::minmax(chain.longest_ns, b.owned_ns);
    return most <= kAlike * least || along_rows(link) || chain.reduced;
  }

  bool resumes(const std::vector<WorkSlot>& slots, const Chain& aside, const WorkSlot& b, Link link) {
    if (aside.slots.empty() || (link != Link::computes && link != Link::copies)) return false;
    const double whole = aside.elements, its = time_.elements(b.work.row);
    return whole > 0 && is_about(whole, its) && goes_on(slots, aside, b, link);
  }

  // By grids, which cover whole blocks.
  static bool is_about(double a, double b) { return std::abs(a - b) <= std::max(kBlock, kRounded * std::max(a, b)); }
  static bool is_about_part(const Chain& chain, double its) {
    if (chain.reduced && its < chain.elements) return true;
    const auto [least, most] = std::minmax(chain.elements, its);
    const double parts = std::round(most / least);
    return parts <= kMostParts && is_about(most, parts * least);
  }

  bool is_part(const Chain& chain, const WorkSlot& slot, double elements) const {
    const auto [least, most] = std::minmax(chain.elements, elements);
    if (std::fmod(most, least) != 0) return false;
    if (chain.reduced && elements < chain.elements) return true;  // a number a row
    return most <= kMostParts * least && !is_in_place(slot);
  }

  void add(const std::vector<WorkSlot>& slots, std::size_t i, Link link, Chain* chain) {
    chain->slots.push_back(i);
    chain->links.push_back(link);
    chain->elements = std::max(chain->elements, time_.elements(slots[i].work.row));
    // What joins moves the tensors of several, and scans and norms of ATen's take longer than their traffic.
    const bool by_traffic = link != Link::joins && link != Link::scans && link != Link::norms;
    if (by_traffic || chain->longest_ns == 0) chain->longest_ns = std::max(chain->longest_ns, slots[i].owned_ns);
    chain->reduced = chain->reduced || along_rows(link);
  }

  // Over all of its elements: not over what a reduction left of them.
  bool is_whole(const Chain& chain, std::size_t at, const WorkSlot& slot) {
    if (chain.links[at] == Link::reduces || chain.links[at] == Link::joins) return false;
    const double its = time_.elements(slot.work.row);
    return chain.elements > 0 ? its == 0 || its * kMostParts >= chain.elements : slot.owned_ns * kAlike >= chain.longest_ns;
  }

  // What all of the chain made before.
  bool sums_up(const Chain& chain, std::size_t at, const std::vector<WorkSlot>& slots) {
    return chain.links[at] == Link::reduces && chain.elements > 0 &&
           time_.elements(slots[chain.slots[at]].work.row) == chain.elements;
  }

  void close(std::size_t device, Chain* chain) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    const Chain done = std::exchange(*chain, {});
    // What only sums up, at the beginning, is a statistic: it reads its input once whatever comes behind. At the end it needs
    // not be written first. What joins, at the beginning, puts results of others side by side; at the end, what the chain made
    // is written where it belongs.
    std::size_t first = 0, last = done.slots.size();
    while (first < last && !is_whole(done, first, slots[done.slots[first]])) ++first;
    const auto ends = [&](std::size_t at) {
      return is_whole(done, at, slots[done.slots[at]]) || sums_up(done, at, slots) ||
             (done.links[at] == Link::joins && at - first >= 2);
    };
    while (first < last && !ends(last - 1)) --last;
    // Copies alone move data to where it is wanted; they fuse with arithmetic only. One kernel again and again is a loop over
    // tensors, or a benchmark.
    bool arithmetic = false, varied = false;
    for (std::size_t at = first; at < last; ++at) {
      arithmetic = arithmetic || done.links[at] == Link::computes;
      varied =
          varied || facts_.kernel_id(slots[done.slots[at]].work.row) != facts_.kernel_id(slots[done.slots[first]].work.row);
    }
    if (arithmetic && varied && last - first >= 2) take(device, std::span(done.slots).subspan(first, last - first));
  }

  // Of a kernel that computes, and reads one tensor across for that, or columns of rows, what is beyond its traffic is
  // memory_bound_inefficient's, whoever fuses it: most of its time.
  std::int64_t own_ns(const WorkSlot& slot) {
    constexpr double kMostLeft = 0.6;
    const ExpectedCall* ran = link_of(facts_, slot) == Link::computes ? facts_.ran(slot.work.row) : nullptr;
    const auto roof = facts_.scope().costs().roof(slot.work.row).roof_ns;
    const bool apart = ran != nullptr && has_apart(ran->call->call);
    if (ran == nullptr || !roof || (!apart && !lies_across(ran->call->call))) return slot.open_ns;
    const auto left = facts_.would_take().left_of(*ran, contiguous(ran->call->call), false);
    if (left && apart) return static_cast<std::int64_t>(left->part * static_cast<double>(slot.open_ns));
    return left && left->part < kMostLeft ? std::min(slot.open_ns, static_cast<std::int64_t>(*roof)) : slot.open_ns;
  }

  void take(std::size_t device, std::span<const std::size_t> chain) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::size_t, std::int64_t> own;
    for (const std::size_t i : chain) own[i] = own_ns(slots[i]);
    const std::size_t longest =
        *std::max_element(chain.begin(), chain.end(), [&](std::size_t a, std::size_t b) { return own[a] < own[b]; });
    // The longest first, so that the launch that stays is its own.
    std::int64_t left = time_.ns(slots, chain, own[longest], facts_.ledger().devices()[device].device);
    const std::int64_t of_longest = std::min(left, own[longest]);
    left -= of_longest;
    const std::size_t first_beside = beside_.size();
    for (const std::size_t i : chain) {
      const std::int64_t open = own[i], stays = i == longest ? of_longest : std::min(open, left);
      if (i != longest) left -= stays;
      tally_.add(slots[i].work.row, slots[i].owned_ns);  // also what another finding claims of it
      if (open > 0) {
        rows_.insert(slots[i].work.row);
        split_by_break_ = split_by_break_ || is_inductor(slots[i]);
        claim_.take_work(device, i, open, open - stays);
        saturating_add(&saved_ns_, open - stays);
      }
      // What another finding claims of it goes with it: a fused kernel does not walk memory across, nor cast and cast back.
      if (slots[i].owned_ns > open)
        beside_.push_back({slots[i].work.row, slots[i].owned_ns - open, true, open == 0 && i != longest});
    }
    for (std::size_t i = beside_.size(); left > 0 && i-- > first_beside;) {
      const std::int64_t stays = std::min(left, beside_[i].ns);
      beside_[i].ns -= stays;
      left -= stays;
    }
    ++chains_;
    kernels_ += static_cast<std::int64_t>(chain.size());
  }

  Facts& facts_;
  Claim& claim_;
  WorkTally tally_;
  FusedTime time_;
  std::size_t device_ = 0;                                    // that is walked
  std::vector<std::pair<std::size_t, std::size_t>> columns_;  // device, slot
  std::int64_t chains_ = 0, kernels_ = 0;
  std::int64_t saved_ns_ = 0;
  bool split_by_break_ = false;
  std::vector<Removal::Work> beside_;
  std::unordered_set<std::uint32_t> rows_;  // of chains
};

}  // namespace

std::optional<Finding> find_unfused_pointwise(Facts& facts) {
  Claim claim(facts.ledger());
  Chains chains(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) chains.walk(d);
  chains.take_columns();
  const std::int64_t least_ns = std::max(facts.ledger().least_ns(), facts.ledger().least_work_ns());
  if (chains.chains() == 0 || chains.saved_ns() < least_ns || !claim.keep()) return std::nullopt;
  reach_compiled(facts, chains.rows(), &claim);  // that bounds it
  return Finding{
      .finding = "pointwise kernels that could be fused: " + per_iteration(facts, chains.kernels(), "kernel") +
                 fmt::format(" in chains of {}", chains.kernels() / chains.chains()),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = chains.tally().text(),
      .action = chains.split_by_break()
                    ? "remove the graph break between them, so that Inductor can fuse across it"
                    : "compile the model with its loss, or the function around these lines, with torch.compile: the "
                      "chain becomes one kernel, and what is around it is fused too; the optimizer stays outside",
      .event = chains.tally().event(),
      .gone = {.work = chains.beside(), .calls = chains.called_by_generated_code(), .host = {}, .waits = {}, .gaps = {}},
      .doubt = kChainDoubt};
}

}  // namespace ridge
