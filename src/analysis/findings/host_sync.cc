// host_sync: the host waited for the device (item, .cpu(), nonzero, synchronize, blocking copies), so that nothing was queued
// when it went on. An op that only reads a value or copies goes with its wait, and with it the idle time in which the device
// waited for the host while that ran the op; not what the device waited for otherwise meanwhile.
//
// A wait that the device is busy in holds the host up too: where launches come late, those behind it would come earlier.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analysis/findings/catalog.h"
#include "analysis/findings/hidden_waits.h"
#include "analysis/findings/host_gone.h"
#include "analysis/findings/savings.h"
#include "base/saturating.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

enum class Way : std::uint8_t { any, to_device };  // what a copy waits for

struct SyncAdvice {
  std::string_view part;  // of the op's or call's name
  std::string_view action;
  Way way = Way::any;
  bool op_goes = false;       // who follows it does not call the op any more
  bool users_go_too = false;  // nor indexes with what it returned
};
constexpr std::string_view kMakeOnDevice =
    "create small tensors on the device (torch.full, torch.arange, device=...), or send them in one copy; copy large ones from "
    "pinned memory with .to(device, non_blocking=True)";
constexpr std::string_view kLeaveOnDevice =
    "keep the result on the device, or copy it to pinned memory with non_blocking=True and read it one iteration later";
constexpr std::string_view kUseMasks =
    "avoid data-dependent shapes: use masks and torch.where instead of boolean indexing and nonzero; to sort rows by kind, one "
    "sort and one wait for all kinds";
constexpr SyncAdvice kRemedies[] = {
    {"is_nonzero", "decide on the device (torch.where or arithmetic instead of `if` on a tensor), or test only every n-th step",
     Way::any, true},
    {"item",
     "keep the value on the device (torch.where or arithmetic instead of `if`), log only every n-th step, or copy it to pinned "
     "memory with non_blocking=True and read it later",
     Way::any, true},
    {"_local_scalar_dense", "keep the value on the device, or read it only every n-th step", Way::any, true},
    {"nonzero", kUseMasks, Way::any, true, true},
    {"where", kUseMasks, Way::any, true, true},  // of a condition alone: nonzero
    {"masked_select", "avoid data-dependent shapes: use masks and torch.where", Way::any, true},
    {"unique", "avoid data-dependent shapes, or do it once before the loop"},
    {"index", "do not index with boolean masks: use torch.where", Way::any, true},
    {"copy_", kMakeOnDevice, Way::to_device},
    {"copy_", kLeaveOnDevice, Way::any, true},
    {"aten::to", kMakeOnDevice, Way::to_device},
    {"aten::to", kLeaveOnDevice, Way::any, true},
    {"Synchronize", "remove the explicit synchronisation (torch.cuda.synchronize, stream or event waits) from the loop"},
};

constexpr SyncAdvice kAnyOther = {"", "remove the wait from the loop, or wait only every n-th iteration"};

const SyncAdvice& remedy_for(std::string_view name, bool to_device) {
  for (const SyncAdvice& remedy : kRemedies) {
    if (name.find(remedy.part) != name.npos && (remedy.way == Way::any || to_device)) return remedy;
  }
  return kAnyOther;
}

// The waits of a scope, by what goes with each: its op, or the call alone.
class HostWaits {
 public:
  explicit HostWaits(Facts& facts) : facts_(facts), tally_(facts), gone_(facts) {}

  // Idle time that a wait caused.
  void take(Claim* claim, std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool copies = slot.piece.cause == IdleCause::copy_wait;
    const NodeId node = slot.piece.node, known = facts_.known_as(node);
    std::int64_t got = claim->take_idle(d, i);
    if (goes_with(known, copies)) got += claim->take_idle_within(d, facts_.time(known));
    if (node != kNoNode) seen_.insert(node.value);
    add(node, known, copies, got, d);
  }
  // Of what another finding claims, nothing.
  void skip(NodeId node) {
    if (node != kNoNode) seen_.insert(node.value);
  }
  // Waits that cost the device nothing by themselves.
  void add_others() {
    for (const std::vector<HostStall>& stalls : facts_.model().host_stalls().of_thread) {
      for (const HostStall& stall : stalls) {
        if (stall.cause != IdleCause::sync || seen_.contains(stall.node.value) || !facts_.scope().holds(stall.node)) continue;
        const NodeId known = facts_.known_as(stall.node);
        if (goes_with(known, false)) add(stall.node, known, false, facts_.time(known).length());
      }
    }
  }

  // What the ops launched that are not called any more.
  void take_work(Claim* claim) const {
    if (gone_ops_.empty()) return;
    for_each_open_work(facts_.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
      for (NodeId n = facts_.launch(slot.work.row); n != kNoNode; n = facts_.tree().parent[n.value]) {
        if (!gone_ops_.contains(n.value)) continue;
        claim->take_work(d, i);
        return;
      }
    });
  }

  const HostGone& gone() const { return gone_; }
  const HostTally& tally() const { return tally_; }
  bool to_device(NodeId sample) const {
    const auto it = to_device_.find(facts_.name_id(sample).value);
    return it != to_device_.end() && it->second > 0;
  }

 private:
  bool goes_with(NodeId known, bool copies) const {
    const bool is_op = known != kNoNode && facts_.tree().class_of(known) == EventClass::op;
    return is_op && remedy_for(facts_.name(known), copies).op_goes;
  }
  void add(NodeId node, NodeId known, bool copies, std::int64_t ns, std::size_t device = 0) {
    tally_.add(node, ns, device);
    const bool op_goes = goes_with(known, copies);
    gone_.add(op_goes ? known : node);
    if (op_goes && gone_ops_.insert(known.value).second && remedy_for(facts_.name(known), copies).users_go_too)
      add_users(known);
    if (known != kNoNode) saturating_add(&to_device_[facts_.name_id(known).value], copies ? ns : -ns);
  }

  static bool indexes(std::string_view op) {
    constexpr std::string_view kIndexing[] = {"aten::index", "aten::index_put_", "aten::index_add_", "aten::index_select",
                                              "aten::index_copy_"};
    return std::ranges::find(kIndexing, op) != std::end(kIndexing);
  }
  static bool compares(std::string_view op) {
    constexpr std::string_view kComparing[] = {"aten::eq", "aten::ne", "aten::gt", "aten::ge", "aten::lt", "aten::le"};
    return std::ranges::find(kComparing, op) != std::end(kComparing);
  }

  // Ops that index with the rows that it found, until it is asked for others; and the comparison right before it, which found
  // them. A program that asks for one kind of rows after the other sorts once instead.
  void add_users(NodeId found) {
    constexpr std::uint32_t kLookedAhead = 400, kLookedBack = 40;
    const CallTree& tree = facts_.tree();
    const std::size_t thread = thread_of(tree, found);
    const std::uint32_t begin = tree.threads[thread].first;
    for (std::uint32_t n = found.value, looked = 0; n-- > begin && looked < kLookedBack; ++looked) {
      const NodeId node{n};
      if (tree.class_of(node) != EventClass::op || tree.end_ns[n] > facts_.time(found).start_ns) continue;
      if (tree.op_above(node) != kNoNode) continue;
      if (compares(facts_.name(node)) && gone_ops_.insert(n).second) gone_.add(node);
      break;
    }
    const std::uint32_t end = thread + 1 < tree.threads.size() ? tree.threads[thread + 1].first : tree.recorded;
    for (std::uint32_t n = found.value + 1, looked = 0; n < std::min(end, tree.recorded) && looked < kLookedAhead;
         ++n, ++looked) {
      const NodeId node{n};
      if (tree.start_ns[n] < facts_.time(found).end_ns || tree.class_of(node) != EventClass::op) continue;
      const std::string_view name = facts_.name(node);
      if (name == facts_.name(found)) return;
      if (indexes(name) && gone_ops_.insert(n).second) gone_.add(node);
    }
  }

  Facts& facts_;
  HostTally tally_;
  HostGone gone_;
  std::unordered_set<std::uint32_t> gone_ops_;  // nodes
  std::unordered_set<std::uint32_t> seen_;      // nodes
  // By name: how much more of its time went into copies to the device than into others.
  std::unordered_map<std::uint32_t, std::int64_t> to_device_;
};

}  // namespace

std::optional<Finding> find_host_sync(Facts& facts) {
  Claim claim(facts.ledger());
  HostWaits waits(facts);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
    const std::vector<IdleSlot>& slots = facts.ledger().devices()[d].idle;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].piece.cause != IdleCause::sync && slots[i].piece.cause != IdleCause::copy_wait) continue;
      if (slots[i].open_ns > 0) {
        waits.take(&claim, d, i, slots[i]);
      } else {
        waits.skip(slots[i].piece.node);
      }
    }
  }
  waits.add_others();
  waits.take_work(&claim);
  waits.gone().reach(&claim);
  if (waits.tally().tally().empty() || !claim.keep()) return std::nullopt;
  waits.gone().reach_all_late(&claim);
  const NodeId sample{waits.tally().tally().top().front().sample};
  const std::string_view worst = facts.name(sample);
  return Finding{.finding = "host sync leaves the device idle: " + std::string(worst),
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = waits.tally().text(),
                 .action = std::string(remedy_for(worst, waits.to_device(sample)).action),
                 .event = waits.tally().event(),
                 .gone = waits.gone().removal()};
}

std::optional<Finding> find_hidden_host_sync(const Facts& facts, const StepSavings& savings) {
  constexpr double kNotablePct = 5;
  constexpr std::string_view kChange = "no-sync";
  const StepGraph& graph = savings.what_if().graph();
  HostTally tally(facts);
  std::vector<std::pair<NodeId, std::int64_t>> explicit_waits;
  std::set<std::size_t> iterations;  // that have some
  for (std::uint32_t node = 0; node < graph.size() && !graph.is_device(node); ++node) {
    if (graph.kind[node] != StepKind::wait || graph.source[node] == StepGraph::kNone) continue;
    const NodeId call{graph.source[node]};
    if (facts.model().compiler_work().holds(call) || !facts.scope().holds(call)) continue;
    const std::int64_t ns = graph.recorded_end_ns(node) - graph.start_ns[node];
    if (facts.nearest_op(call) != kNoNode) {
      tally.add(call, ns);
    } else if (const auto iteration = facts.model().iterations().at(facts.time(call).start_ns)) {
      explicit_waits.emplace_back(call, ns);
      iterations.insert(*iteration);
    }
  }
  // What the program waits for by itself, outside of any op, is the end of what was recorded, unless each iteration has it.
  if (const std::int64_t all = facts.ledger().iterations(); all > 1 && std::ssize(iterations) >= all) {
    for (const auto& [call, ns] : explicit_waits) tally.add(call, ns);
  }
  if (tally.tally().top().empty()) return std::nullopt;
  const Remedy remedy{.changes = {*parse_change(kChange)}};
  const Remedy* const all = &remedy;
  const Savings saved = savings.of({&all, 1}, std::nullopt);
  if (saved.saves_pct.value_or(0) < kNotablePct || saved.low_pct.value_or(0) <= 0) return std::nullopt;
  const NodeId sample{tally.tally().top().front().sample};
  const std::string_view worst = facts.name(sample);
  return Finding{.finding = "host sync: without the profiler the device would idle after " + std::string(worst),
                 .at_most_ns = {},  // in the trace the recorder's cost hides it
                 .confidence = Confidence::medium,
                 .evidence = tally.text(),
                 .action = std::string(remedy_for(worst, false).action),
                 .event = tally.event(),
                 .changes = {std::string(kChange)}};
}

}  // namespace ridge
