// remade_constants: a mask, a bias by position, a table of angles: begun by an op that takes no tensor (arange, ones, eye) and
// continued element by element, made anew in every layer or every step though no data goes into it. Claimed are all kernels of
// such a chain: made once and kept, it costs nothing.
//
// A trace does not tell which tensor an op reads, but the sizes of its inputs: a chain goes on while all of them are sizes that
// its beginnings have brought in. Without shapes the grids of its kernels tell: each goes over what a beginning
// holds, or two of them across, as often as short ones allow (heads).
//
// What is made on the host and sent costs the host's time and a copy: ops in a row that launch nothing, begun by such an op,
// up to one that copies to the device. No shapes are needed: what is on the host, and read by none of these, has no place
// there.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "cost/grid_size.h"

namespace ridge {
namespace {

constexpr std::array<std::string_view, 6> kBegins = {"arange", "linspace", "logspace", "eye", "ones", "full"};
// Of one element or two, and what moves elements.
constexpr std::array<std::string_view, 47> kGoesOn = {
    "add",     "sub",         "rsub",         "mul",         "div",        "floor_divide", "remainder", "neg",
    "abs",     "exp",         "exp2",         "log",         "pow",        "sqrt",         "rsqrt",     "reciprocal",
    "cos",     "sin",         "eq",           "ne",          "lt",         "le",           "gt",        "ge",
    "where",   "masked_fill", "masked_fill_", "logical_and", "logical_or", "logical_not",  "maximum",   "minimum",
    "clamp",   "tril",        "triu",         "to",          "_to_copy",   "expand",       "unsqueeze", "view",
    "reshape", "transpose",   "permute",      "slice",       "contiguous", "outer",        "repeat"};

// On the host besides: what puts several together.
constexpr std::array<std::string_view, 6> kJoins = {"meshgrid", "stack", "cat", "flatten", "float", "cartesian_prod"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view op) {
  constexpr std::string_view kAten = "aten::";
  return op.starts_with(kAten) && std::find(names.begin(), names.end(), op.substr(kAten.size())) != names.end();
}

// One chain, while it grows.
class Chain {
 public:
  // `elements` of the tensor, at most, where a grid tells; `counts`: it is a line of numbers, not filled with one.
  void begin(NodeId op, std::optional<double> elements, bool counts) {
    ops_.push_back(op);
    if (unseen_.size() < kMostBeginnings) unseen_.push_back({elements.value_or(0), counts});
    if (!elements || (!counts && *elements <= kOneBlock)) return;  // what fills one block may be a scalar
    if (counts && *elements <= kRounded) {
      ++few_;
    } else if (begins_.size() < kMostBeginnings) {
      begins_.push_back({*elements, counts});
    }
  }
  bool open() const { return !ops_.empty(); }
  bool computes() const { return computes_; }
  const std::vector<NodeId>& ops() const { return ops_; }

  // Whether an op of these inputs may be made of nothing else.
  bool takes(const OpCall& call) {
    std::set<std::int64_t> sizes = sizes_;
    std::vector<Beginning> unseen = unseen_;
    int largest = 0;
    double most = most_;  // elements of an input
    for (const OpArgument& argument : call.arguments) {
      if (argument.kind != OpArgument::Kind::tensor) continue;
      for (const std::int64_t size : argument.tensor.sizes) {
        if (size <= 1 || sizes.contains(size)) continue;
        const auto brought = std::ranges::find_if(unseen, [&](const Beginning& one) { return one.brings(size); });
        if (brought == unseen.end()) return false;  // the size of a tensor from elsewhere
        unseen.erase(brought);
        sizes.insert(size);
      }
      const double elements = numel(argument.tensor);
      const auto wide = std::ranges::count_if(argument.tensor.sizes, [](std::int64_t size) { return size > 1; });
      if (wide > 1 && elements >= most) largest = elements > most ? 1 : largest + 1;
      most = std::max(most, elements);
    }
    // Of two matrices as large as the largest so far, one is from elsewhere.
    if (largest > 1) return false;
    sizes_ = std::move(sizes);
    unseen_ = std::move(unseen);
    most_ = most;
    return true;
  }
  // The same of an op whose shapes are not recorded, by what its kernel goes over: what a beginning holds, or two lines across,
  // as many times as a short line allows, each of which counts once (heads).
  bool takes(double elements) {
    if (elements <= kOneBlock) return true;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      if (fits(elements, begins_[i].elements, begins_[i].elements - (begins_[i].counts ? kRounded : kOneBlock), 1)) return true;
      for (std::size_t j = 0; j <= i && begins_[i].counts; ++j) {
        if (!begins_[j].counts || std::min(begins_[i].elements, begins_[j].elements) < kTelling) continue;
        const double most = begins_[i].elements * begins_[j].elements;
        const double least = (begins_[i].elements - kRounded) * (begins_[j].elements - kRounded);
        const double times = std::max(1.0, std::ceil((elements - kOneBlock) / most));
        if (times > times_ && (few_ == 0 || times > kRounded * times_)) continue;
        if (!fits(elements, most, least, times)) continue;
        if (times > times_) --few_;
        times_ = std::max(times_, times);
        return true;
      }
    }
    return false;
  }
  void add(NodeId op) {
    ops_.push_back(op);
    computes_ = true;
  }

 private:
  // Elements: to what grids of kernels, and of lines, are rounded up, and from where on that leaves a size to tell by.
  static constexpr double kOneBlock = 1'024, kRounded = 64, kTelling = 512;
  static constexpr std::size_t kMostBeginnings = 8;
  struct Beginning {
    double elements = 0;  // 0 where no grid tells
    bool counts = false;

    bool brings(std::int64_t size) const {
      const auto its = static_cast<double>(size);
      return elements == 0 || (its <= elements && (!counts || its > elements - kRounded));
    }
  };
  static bool fits(double elements, double most, double least, double times) {
    return elements <= most * times + kOneBlock && elements > least * times;
  }

  std::vector<NodeId> ops_;
  std::set<std::int64_t> sizes_;  // of its tensors
  std::vector<Beginning> begins_;
  int few_ = 0;                    // short lines that no op has gone over yet
  double times_ = 1;               // what those that were gone over made of the lines
  std::vector<Beginning> unseen_;  // whose sizes are not seen yet: the first op that takes the result tells
  double most_ = 0;                // elements of its largest input
  bool computes_ = false;
};

class Constants {
 public:
  explicit Constants(Facts& facts) : facts_(facts) {
    const CallTree& tree = facts.tree();
    look_at_grids();
    for (std::size_t t = 0; t < tree.threads.size(); ++t) {
      const std::uint32_t end = t + 1 < tree.threads.size() ? tree.threads[t + 1].first : tree.recorded;
      walk(tree.threads[t].first, std::min(end, tree.recorded));
    }
    // Once in all is no "again".
    for (const auto& [key, chains] : chains_) {
      if (chains.size() < 2) continue;
      made_ += static_cast<std::int64_t>(chains.size());
      for (const std::vector<NodeId>& ops : chains) {
        for (const NodeId op : ops) members_.insert(op.value);
      }
    }
  }

  std::int64_t made() const { return made_; }
  bool holds(NodeId launch) const {
    for (NodeId n = launch; n != kNoNode; n = facts_.tree().parent[n.value]) {
      if (members_.contains(n.value)) return true;
    }
    return false;
  }

 private:
  void walk(std::uint32_t first, std::uint32_t end) {
    const CallTree& tree = facts_.tree();
    Chain chain;
    for (std::uint32_t n = first; n < end; ++n) {
      const NodeId op{n};
      if (tree.event_class[n] != EventClass::op || tree.op_above(op) != kNoNode) continue;
      const std::string_view name = facts_.name(op);
      const bool belongs = facts_.scope().holds(op) && facts_.phase(op) == Phase::forward;
      if (belongs && is_one_of(kBegins, name)) {
        const auto grid = grids_.find(n);
        const bool counts = name == "aten::arange" || name == "aten::linspace" || name == "aten::logspace";
        chain.begin(op, grid == grids_.end() ? std::nullopt : grid->second, counts);
      } else if (chain.open() && belongs && is_one_of(kGoesOn, name) && goes_on(&chain, op)) {
        chain.add(op);
      } else {
        close(&chain);
      }
    }
    close(&chain);
  }

  bool goes_on(Chain* chain, NodeId op) {
    const OpCall& call = facts_.call(op);
    if (call.has_shapes) return chain->takes(call);
    const auto grid = grids_.find(op.value);
    return grid == grids_.end() || (grid->second && chain->takes(*grid->second));  // a view launches nothing
  }

  // None where ops are nested deeper than any that makes a tensor of no data.
  NodeId outermost(NodeId op) const {
    constexpr int kMostLevels = 16;
    for (int level = 0; op != kNoNode && level < kMostLevels; ++level) {
      const NodeId above = facts_.tree().op_above(op);
      if (above == kNoNode) return op;
      op = above;
    }
    return kNoNode;
  }

  // What the kernels of each outermost op go over, at most.
  void look_at_grids() {
    const GridSizes sizes(facts_.model());
    for (const DeviceLedger& device : facts_.ledger().devices()) {
      for (const WorkSlot& slot : device.work) {
        const NodeId op = outermost(facts_.op(slot.work.row));
        if (op == kNoNode) continue;
        const auto size = sizes.of(slot.work.row);
        auto& most = grids_.try_emplace(op.value, 0).first->second;
        most = size && most ? std::optional(std::max(*most, size->elements)) : std::nullopt;
      }
    }
  }

  void close(Chain* chain) {
    if (chain->computes()) {
      std::string key;
      for (const NodeId op : chain->ops()) key += std::string(facts_.name(op)) + ";";
      chains_[key].push_back(chain->ops());
    }
    *chain = Chain();
  }

  Facts& facts_;
  std::map<std::string, std::vector<std::vector<NodeId>>> chains_;  // by their ops
  std::unordered_map<std::uint32_t, std::optional<double>> grids_;  // by node: elements, where they are told
  std::unordered_set<std::uint32_t> members_;                       // nodes
  std::int64_t made_ = 0;
};

// Made on the host and sent, again and again.
class SentConstants {
 public:
  explicit SentConstants(Facts& facts) : facts_(facts), launches_(facts.tree().size()) {
    for (const DeviceLedger& device : facts.ledger().devices()) {
      for (const WorkSlot& slot : device.work) {
        const bool sent =
            slot.work.sort == WorkSort::copy && facts.kernel(slot.work.row).find("HtoD") != std::string_view::npos;
        mark(facts.launch(slot.work.row), sent ? Launches::a_copy : Launches::work);
      }
    }
    const CallTree& tree = facts.tree();
    for (const HostThread& thread : tree.threads) walk(thread.first, std::min(thread.first + thread.count, tree.recorded));
    for (const auto& [key, chains] : chains_) {
      if (chains.size() < 2) continue;
      made_ += static_cast<std::int64_t>(chains.size());
      for (const auto& [first, last] : chains) sent_.emplace(last.value, first);
    }
  }

  std::int64_t made() const { return made_; }
  bool holds(NodeId launch) const {
    for (NodeId n = launch; n != kNoNode; n = facts_.tree().parent[n.value]) {
      if (sent_.contains(n.value)) return true;
    }
    return false;
  }
  // From the first op of each to the end of the one that sends it, which waits for the copy.
  void remove(HostGone* gone) const {
    for (const auto& [last, first] : sent_) {
      gone->add(first, {facts_.time(first).start_ns, facts_.time(NodeId{last}).end_ns});
      gone->add(NodeId{last});
    }
  }

 private:
  enum class Launches : std::uint8_t { nothing, a_copy, work };

  void mark(NodeId n, Launches what) {
    for (; n != kNoNode && n.value < facts_.tree().recorded; n = facts_.tree().parent[n.value]) {
      if (launches_[n.value] >= what) return;
      launches_[n.value] = what;
    }
  }

  void walk(std::uint32_t begin, std::uint32_t end) {
    const CallTree& tree = facts_.tree();
    std::vector<NodeId> ops;
    std::size_t made = 0;  // ops of it that compute
    for (std::uint32_t n = begin; n < end; ++n) {
      const NodeId op{n};
      if (tree.event_class[n] != EventClass::op || tree.op_above(op) != kNoNode) continue;
      const std::string_view name = facts_.name(op);
      const bool belongs = facts_.scope().holds(op) && facts_.phase(op) == Phase::forward;
      const bool begins = is_one_of(kBegins, name);
      const bool goes_on = begins || (!ops.empty() && (is_one_of(kGoesOn, name) || is_one_of(kJoins, name)));
      if (belongs && goes_on && launches_[n] == Launches::nothing) {
        ops.push_back(op);
        made += begins ? 0 : 1;
        continue;
      }
      if (belongs && made > 0 && name == "aten::to" && launches_[n] == Launches::a_copy) {
        std::string key;
        for (const NodeId each : ops) key += std::string(facts_.name(each)) + ";";
        chains_[key].emplace_back(ops.front(), op);
      }
      ops.clear();
      made = 0;
    }
  }

  Facts& facts_;
  std::vector<Launches> launches_;                                        // by node
  std::map<std::string, std::vector<std::pair<NodeId, NodeId>>> chains_;  // by their ops: the first, and the one that sends
  std::map<std::uint32_t, NodeId> sent_;                                  // by the op that sends: the first
  std::int64_t made_ = 0;
};

}  // namespace

std::optional<Finding> find_remade_constants(Facts& facts) {
  const Constants constants(facts);
  const SentConstants sent(facts);
  if (constants.made() + sent.made() == 0) return std::nullopt;
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  HostGone gone(facts);
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const NodeId launch = facts.launch(slot.work.row);
    if (constants.holds(launch) || sent.holds(launch)) tally.add(slot.work.row, claim.take_work(d, i));
  });
  sent.remove(&gone);
  gone.reach(&claim);
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "tensors that depend on no data are made again and again: " +
                 per_iteration(facts, constants.made() + sent.made(), "time"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = tally.text(),
      .action =
          "make it once and keep it: a buffer of the module (register_buffer), made for the largest size and cut to the one "
          "wanted, or handed from layer to layer",
      .event = tally.event(),
      .gone = gone.removal()};
}

}  // namespace ridge
