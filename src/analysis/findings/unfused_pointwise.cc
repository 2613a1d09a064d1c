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
#include "analysis/findings/least_time.h"
#include "base/saturating.h"
#include "facts/break_costs.h"
#include "predict/strided_views.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::int64_t kAlike = 4;
// A part of a tensor: halves and thirds that are put together again, gates of a recurrent cell.
constexpr double kMostParts = 4;
constexpr std::size_t kLeastUnlike = 3;  // kernels of a chain that is not over tensors of one size
// One kernel is left of a chain. It takes what the longest takes now, and reads inputs of the others besides.
constexpr double kMoreThanLongest = 0.12;
// A compiler may fuse more than a chain: losses and softmaxes around it, and the host's work with them.
constexpr double kChainDoubt = 0.4;
// Of the bandwidth, by Inductor's pointwise kernels on an H200: 0.54 to 0.92; where rows are scanned on the way 0.43, where all
// is summed to a number 0.22 (two rounds, several sums at once). And what any kernel takes at least.
constexpr double kReached = 0.7, kReachedByScan = 0.45, kReachedToNumber = 0.22, kShortestNs = 2'000;
// Of a copy into another order: what a generated kernel takes that turns it on the way (70 us of 107 with a norm in it).
constexpr double kOfTurning = 0.65;
constexpr double kReachedEager = 0.88;   // by ATen's kernels over whole tensors
constexpr std::size_t kLong = 16;        // kernels of a chain: shorter ones, as a gelu written out, read one tensor or two
constexpr double kNumberOf = 100'000;    // read for what is written: all is summed
constexpr double kNotMadeBefore = 0.25;  // of a chain's traffic, where sizes are not told: what no kernel of it made

// What a kernel is to a chain.
enum class Link : std::uint8_t {
  none,      // ends it
  beside,    // neither: part of a neighbour, or work that stays
  computes,  // element by element
  copies,    // casts and layouts: fuse with arithmetic
  joins,     // tensors into one: of a chain only with arithmetic before and behind
  reduces,   // along rows: with what is before and behind it one kernel, as a norm is
  scans,     // the same, and as many numbers come out
  norms,     // rows by what they sum to, in one kernel already: softmaxes, layer norms
};
constexpr bool along_rows(Link link) { return link == Link::reduces || link == Link::scans || link == Link::norms; }

class Chains {
 public:
  Chains(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts) {}

  void walk(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::int64_t, Chain> open;  // at the end of each stream
    for (std::size_t i = 0; i < slots.size(); ++i) {
      Chain& chain = open[slots[i].work.stream];
      const Link link = link_of(slots[i]);
      if (link == Link::beside) continue;
      if (link == Link::none) {
        close(device, &chain);
        continue;
      }
      if (!chain.slots.empty() && !goes_on(slots, chain, slots[i], link)) close(device, &chain);
      add(slots, i, link, &chain);
    }
    for (auto& [stream, chain] : open) close(device, &chain);
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

  Link link_of(const WorkSlot& slot) {
    if (slot.work.sort == WorkSort::set) return Link::beside;
    const std::uint32_t row = slot.work.row;
    const bool copy = slot.work.sort == WorkSort::copy;
    if ((slot.work.sort != WorkSort::compute && !copy) || slot.open_ns == 0) return Link::none;
    if (facts_.op(row) == kNoNode || facts_.by_graph_launch(row)) return Link::none;
    if (facts_.phase(facts_.launch(row)) == Phase::optimizer) return Link::none;
    if (copy) return facts_.kernel(row).find("DtoD") == std::string_view::npos ? Link::none : Link::copies;
    const KernelIdentity& kernel = facts_.identity(row);
    switch (kernel.category) {
      case Category::triton_pointwise: return graph_of(row) != kNoCall ? Link::computes : Link::none;
      // "foreach" covers many tensors already.
      case Category::elementwise:
        return kernel.library == "aten" && kernel.label.starts_with("elementwise") ? Link::computes : Link::none;
      case Category::norm: return norms_rows(row) ? Link::norms : Link::none;
      case Category::layout:
        if (kernel.label.starts_with("CatArray")) return Link::joins;
        if (facts_.kernel(row).find("_scatter_gather_elementwise") != std::string_view::npos) return Link::beside;
        return kernel.label.starts_with("copy") || kernel.label.starts_with("roll_cuda") ? Link::copies : Link::none;
      case Category::reduction:
        if (kernel.label.starts_with("tensor_kernel_scan")) return Link::scans;
        if (norms_rows(row)) return Link::norms;
        if (kernel.library != "aten" || !kernel.label.starts_with("reduce")) return Link::none;
        // Several outputs a thread: down the columns, as the gradient of a bias. That goes over its input by itself.
        return facts_.kernel(row).find("reduce_kernel<512, 1,") == std::string_view::npos ? Link::beside : Link::reduces;
      default: return Link::none;
    }
  }

  // ATen's softmaxes and layer norms, and the gradients of their inputs; those of weights go down the columns.
  bool norms_rows(std::uint32_t row) const {
    constexpr std::string_view kNorms[] = {"softmax_warp",          "cunn_SoftMax",
                                           "cunn_Softmax",          "vectorized_layer_norm_kernel",
                                           "layer_norm_grad_input", "rms_norm_kernel"};
    const std::string_view name = facts_.kernel(row);
    return facts_.identity(row).library == "aten" &&
           std::ranges::any_of(kNorms, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  }

  std::uint32_t graph_of(std::uint32_t row) const { return facts_.model().compiled_regions().call_at(facts_.launch(row)); }

  // The outermost compiled call around a graph: what a break splits.
  std::uint32_t frame_of(std::uint32_t call) const {
    const std::vector<CompiledCall>& calls = facts_.model().compiled_regions().calls;
    while (call != kNoCall && calls[call].parent != kNoCall) call = calls[call].parent;
    return call;
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
      const std::uint32_t from = graph_of(a.work.row), to = graph_of(b.work.row);
      if (from == to || frame_of(from) != frame_of(to)) return false;
    }
    const double whole = chain.elements, its = facts_.elements(b.work.row);
    if (whole > 0 && its > 0) return whole == its || (link != Link::reduces && link != Link::scans && is_part(chain, b, its));
    if (whole > 0 || its > 0) return link == Link::copies || link == Link::joins;  // of a list of tensors
    // Without shapes: kernels over tensors of one size take about the same time, but for what a reduction leaves.
    const auto [least, most] = std::minmax(chain.longest_ns, b.owned_ns);
    return most <= kAlike * least || along_rows(link) || chain.reduced;
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
    chain->elements = std::max(chain->elements, facts_.elements(slots[i].work.row));
    // What joins moves the tensors of several, and scans and norms of ATen's take longer than their traffic.
    const bool by_traffic = link != Link::joins && link != Link::scans && link != Link::norms;
    if (by_traffic || chain->longest_ns == 0) chain->longest_ns = std::max(chain->longest_ns, slots[i].owned_ns);
    chain->reduced = chain->reduced || along_rows(link);
  }

  // Over all of its elements: not over what a reduction left of them.
  bool is_whole(const Chain& chain, std::size_t at, const WorkSlot& slot) const {
    if (chain.links[at] == Link::reduces || chain.links[at] == Link::joins) return false;
    const double its = facts_.elements(slot.work.row);
    return chain.elements > 0 ? its == 0 || its * kMostParts >= chain.elements : slot.owned_ns * kAlike >= chain.longest_ns;
  }

  void close(std::size_t device, Chain* chain) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    const Chain done = std::exchange(*chain, {});
    // What only sums up, at an end, is a loss or a statistic: it reads its input once whatever is before. What only joins, at
    // an end, puts results of others side by side.
    std::size_t first = 0, last = done.slots.size();
    while (first < last && !is_whole(done, first, slots[done.slots[first]])) ++first;
    while (first < last && !is_whole(done, last - 1, slots[done.slots[last - 1]])) --last;
    // Copies alone move data to where it is wanted; they fuse with arithmetic only. One kernel again and again is a loop over
    // tensors, or a benchmark.
    bool arithmetic = false, varied = false, alike = true;
    for (std::size_t at = first; at < last; ++at) {
      arithmetic = arithmetic || done.links[at] == Link::computes;
      varied =
          varied || facts_.kernel_id(slots[done.slots[at]].work.row) != facts_.kernel_id(slots[done.slots[first]].work.row);
    }
    if (arithmetic && varied && last - first >= (alike ? 2 : kLeastUnlike))
      take(device, std::span(done.slots).subspan(first, last - first));
  }

  // What is left: one kernel that moves what the largest of them does, or more: what none of them made. That lies between the
  // largest and all that is read less all that was written before, since a tensor may be read several times; the mean of both
  // (as factors) is taken. Eager arithmetic that walks tensors by strides takes longer for that than a generated kernel.
  std::int64_t fused_ns(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain, std::int64_t longest_ns,
                        std::int64_t device) {
    if (chain.size() < kLeastUnlike) return with_more(static_cast<double>(longest_ns));  // two operations: nothing is widened
    const auto longest = static_cast<double>(longest_ns);
    const ChainTraffic moved = traffic_of(slots, chain, device);
    double most = 0;
    bool known = true;
    for (const std::size_t i : chain) {
      const auto roof = facts_.scope().costs().roof(slots[i].work.row).roof_ns;
      known = known && roof;
      // What turns a tensor around, or widens it, walks it so in a fused kernel too.
      if (!roof) continue;
      const double around = turns(slots[i]) ? kOfTurning * static_cast<double>(slots[i].open_ns) : 0;
      most = std::max({most, around, *roof / kReached});
    }
    // Where each reads what the one before made, a fused kernel moves less than the largest: casts to a wider type and back.
    if (known && moved.not_made_ns < moved.largest_ns)
      most = std::min(most, std::sqrt(moved.largest_ns * std::max(0.0, moved.not_made_ns)) / moved.reached);
    const double one = known ? std::clamp(most, kShortestNs, std::max(kShortestNs, longest)) : moved.longest_ns;
    const double all = std::sqrt(moved.largest_ns * std::max(moved.largest_ns, moved.not_made_ns)) / moved.reached;
    return with_more(std::max(one, chain.size() >= kLong && moved.largest_ns < moved.not_made_ns ? all : 0));
  }

  // A copy into another order; not one into another type alone, where sizes tell that.
  bool turns(const WorkSlot& slot) {
    if (slot.work.sort != WorkSort::compute || link_of(slot) != Link::copies) return false;
    const ExpectedCall* ran = facts_.ran(slot.work.row);
    return ran == nullptr || lies_across(ran->call->call);
  }

  // Few numbers come of it: by its traffic, or where sizes are not told by a grid in which many blocks share an output.
  bool sums_all(std::uint32_t row, const LaunchCost& cost) const {
    constexpr std::int64_t kFewOutputs = 8;
    if (cost.bytes_read && cost.bytes_written) return *cost.bytes_read > kNumberOf * std::max(1.0, *cost.bytes_written);
    const auto text = facts_.work().grid.text(facts_.work().events[row]);
    const auto grid = text ? parse_dim3(facts_.trace().text(*text)) : std::nullopt;
    return grid && grid->y > 1 && grid->x <= kFewOutputs;
  }

  // At the full bandwidth.
  struct ChainTraffic {
    double largest_ns = 0, not_made_ns = 0, reached = kReached;
    double longest_ns = 0;  // as it ran, of those that are no scan
  };
  ChainTraffic traffic_of(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain, std::int64_t device) {
    const DeviceSpec* spec = facts_.scope().costs().device(device);
    const double rate = spec != nullptr && spec->bandwidth.known() ? spec->bandwidth.high / 1e9 : 0;
    ChainTraffic out;
    double read = 0, written = 0, last = 0, time = 0;
    bool known = rate > 0;
    for (const std::size_t i : chain) {
      const LaunchCost& cost = facts_.scope().costs()[slots[i].work.row];
      const double its_read = cost.bytes_read.value_or(0), its_written = cost.bytes_written.value_or(0);
      known = known && cost.bytes_read && cost.bytes_written;
      const Link link = link_of(slots[i]);
      if (link == Link::scans) out.reached = std::min(out.reached, kReachedByScan);
      if (link == Link::reduces && sums_all(slots[i].work.row, cost)) out.reached = kReachedToNumber;
      read += its_read;
      written += last = its_written;
      if (rate > 0) out.largest_ns = std::max(out.largest_ns, (its_read + its_written) / rate);
      if (link != Link::scans) {  // a scan of ATen's is far slower than its traffic
        time += static_cast<double>(slots[i].owned_ns);
        out.longest_ns = std::max(out.longest_ns, static_cast<double>(slots[i].owned_ns));
      }
    }
    if (known) {
      out.not_made_ns = (read - written + 2 * last) / rate;
    } else {
      out.largest_ns = out.longest_ns * kReachedEager;
      out.not_made_ns = kNotMadeBefore * time * kReachedEager;
    }
    return out;
  }
  static std::int64_t with_more(double ns) { return static_cast<std::int64_t>((1 + kMoreThanLongest) * ns); }

  // Of a kernel that computes, and reads one tensor across for that, or columns of rows, what is beyond its traffic is
  // memory_bound_inefficient's, whoever fuses it: most of its time.
  std::int64_t own_ns(const WorkSlot& slot) {
    constexpr double kMostLeft = 0.6;
    const ExpectedCall* ran = link_of(slot) == Link::computes ? facts_.ran(slot.work.row) : nullptr;
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
    std::int64_t left = fused_ns(slots, chain, own[longest], facts_.ledger().devices()[device].device);
    const std::int64_t of_longest = std::min(left, own[longest]);
    left -= of_longest;
    for (const std::size_t i : chain) {
      tally_.add(slots[i].work.row, own[i]);
      rows_.insert(slots[i].work.row);
      split_by_break_ = split_by_break_ || is_inductor(slots[i]);
      const std::int64_t open = own[i], stays = i == longest ? of_longest : std::min(open, left);
      if (i != longest) left -= stays;
      claim_.take_work(device, i, open, open - stays);
      saturating_add(&saved_ns_, open - stays);
      // What another finding claims of it goes with it: a fused kernel does not walk memory across.
      if (slots[i].open_ns > open) beside_.push_back({slots[i].work.row, slots[i].open_ns - open, true});
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
  std::vector<Removal::Work> beside_;
  std::unordered_set<std::uint32_t> rows_;  // of chains
};

}  // namespace

std::optional<Finding> find_unfused_pointwise(Facts& facts) {
  Claim claim(facts.ledger());
  Chains chains(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) chains.walk(d);
  const std::int64_t least_ns = std::max(facts.ledger().least_ns(), facts.ledger().least_work_ns());
  if (chains.chains() == 0 || chains.saved_ns() < least_ns || !claim.keep()) return std::nullopt;
  reach_compiled(facts, chains.rows(), &claim);  // that bounds it
  return Finding{.finding = "pointwise kernels that could be fused: " + per_iteration(facts, chains.kernels(), "kernel") +
                            fmt::format(" in chains of {}", chains.kernels() / chains.chains()),
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::medium,
                 .evidence = chains.tally().text(),
                 .action = chains.split_by_break()
                               ? "remove the graph break between them, so that Inductor can fuse across it"
                               : "compile this part with torch.compile, which fuses the chain into one kernel",
                 .event = chains.tally().event(),
                 .gone = {.work = chains.beside(), .host = {}, .waits = {}, .gaps = {}},
                 .doubt = kChainDoubt};
}

}  // namespace ridge
