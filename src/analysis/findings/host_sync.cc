// host_sync: the host waited for the device (item, .cpu(), nonzero, synchronize, blocking copies), so that nothing was queued
// when it went on. An op that only reads a value or copies goes with its wait, and with it the idle time in which the device
// waited for the host while that ran the op; not what the device waited for otherwise meanwhile.
#include <unordered_map>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"

namespace ridge {
namespace {

enum class Way : std::uint8_t { any, to_device };  // what a copy waits for

struct Remedy {
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
constexpr Remedy kRemedies[] = {
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

constexpr Remedy kAnyOther = {"", "remove the wait from the loop, or wait only every n-th iteration"};

const Remedy& remedy_for(std::string_view name, bool to_device) {
  for (const Remedy& remedy : kRemedies) {
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

}  // namespace ridge
