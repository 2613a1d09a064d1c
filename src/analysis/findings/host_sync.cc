// host_sync: the host waited for the device (item, .cpu(), nonzero, synchronize, blocking copies), so that nothing was queued
// when it went on. An op that only reads a value or copies goes with its wait, and with it the idle time in which the device
// waited for the host while that ran the op; not what the device waited for otherwise meanwhile.
#include <unordered_map>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_sync.h"
#include "analysis/findings/savings.h"
#include "base/saturating.h"

namespace ridge {
namespace {

enum class Way : std::uint8_t { any, to_device };  // what a copy waits for

struct SyncAdvice {
  std::string_view part;  // of the op's or call's name
  std::string_view action;
  Way way = Way::any;
  bool op_goes = false;  // who follows it does not call the op any more
};
constexpr std::string_view kMakeOnDevice =
    "create small tensors on the device (torch.full, torch.arange, device=...), or send them in one copy; copy large ones from "
    "pinned memory with .to(device, non_blocking=True)";
constexpr std::string_view kLeaveOnDevice =
    "keep the result on the device, or copy it to pinned memory with non_blocking=True and read it one iteration later";
constexpr SyncAdvice kRemedies[] = {
    {"is_nonzero", "decide on the device (torch.where or arithmetic instead of `if` on a tensor), or test only every n-th step",
     Way::any, true},
    {"item",
     "keep the value on the device (torch.where or arithmetic instead of `if`), log only every n-th step, or copy it to pinned "
     "memory with non_blocking=True and read it later",
     Way::any, true},
    {"_local_scalar_dense", "keep the value on the device, or read it only every n-th step", Way::any, true},
    {"nonzero", "avoid data-dependent shapes: use masks and torch.where instead of boolean indexing and nonzero"},
    {"masked_select", "avoid data-dependent shapes: use masks and torch.where"},
    {"unique", "avoid data-dependent shapes, or do it once before the loop"},
    {"index", "do not index with boolean masks: use torch.where"},
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

}  // namespace

std::optional<Finding> find_host_sync(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  std::unordered_map<std::uint32_t, std::int64_t>
      to_device;  // by name: how much more of its time went into copies to the device than into others
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool waits = slot.piece.cause == IdleCause::sync || slot.piece.cause == IdleCause::copy_wait;
    if (!waits) return;
    const bool copies_to_device = slot.piece.cause == IdleCause::copy_wait;
    const NodeId known = facts.known_as(slot.piece.node);
    std::int64_t got = claim.take_idle(d, i);
    const bool is_op = known != kNoNode && facts.tree().class_of(known) == EventClass::op;
    if (is_op && remedy_for(facts.name(known), copies_to_device).op_goes) got += claim.take_idle_within(d, facts.time(known));
    tally.add(slot.piece.node, got);
    if (known != kNoNode) saturating_add(&to_device[facts.name_id(known).value], copies_to_device ? got : -got);
  });
  if (!claim.keep()) return std::nullopt;
  const NodeId sample{tally.tally().top().front().sample};
  const std::string_view worst = facts.name(sample);
  return Finding{.finding = "host sync leaves the device idle: " + std::string(worst),
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = tally.text(),
                 .action = std::string(remedy_for(worst, to_device[facts.name_id(sample).value] > 0).action),
                 .event = tally.event()};
}

std::optional<Finding> find_hidden_host_sync(const Facts& facts, const StepSavings& savings) {
  constexpr double kNotablePct = 5;
  constexpr std::string_view kChange = "no-sync";
  const StepGraph& graph = savings.what_if().graph();
  HostTally tally(facts);
  for (std::uint32_t node = 0; node < graph.size() && !graph.is_device(node); ++node) {
    if (graph.kind[node] != StepKind::wait || graph.source[node] == StepGraph::kNone) continue;
    const NodeId call{graph.source[node]};
    // Not what the program waits for by itself, outside of any op: as a rule the end of what was recorded.
    if (facts.nearest_op(call) != kNoNode) tally.add(call, graph.recorded_end_ns(node) - graph.start_ns[node]);
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
