// host_sync: the host waited for the device (item, .cpu(), nonzero, synchronize, blocking copies), so that nothing was queued when it went on.
#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

struct Remedy {
  std::string_view part;  // of the op's or call's name
  std::string_view action;
};
constexpr Remedy kRemedies[] = {
    {"is_nonzero",
     "decide on the device: torch.where or arithmetic in place of `if` on a tensor, or test every n-th step only"},
    {"item",
     "keep the value on the device: torch.where or arithmetic in place of `if`, log every n-th step, or copy it to pinned "
     "memory with "
     "non_blocking=True and read it later"},
    {"_local_scalar_dense", "keep the value on the device, or read it every n-th step only"},
    {"nonzero", "avoid shapes that depend on data: use masks and torch.where in place of boolean indexing and nonzero"},
    {"masked_select", "avoid shapes that depend on data: use masks and torch.where"},
    {"unique", "avoid shapes that depend on data, or do it once before the loop"},
    {"index", "avoid boolean masks as indices: use torch.where"},
    {"copy_",
     "copy without blocking: pinned host memory and .to(device, non_blocking=True); keep results on the device until they are "
     "needed"},
    {"to", "copy without blocking: pinned host memory and .to(device, non_blocking=True)"},
    {"Synchronize", "remove the explicit synchronisation (torch.cuda.synchronize, stream or event waits) from the loop"},
};

std::string action_for(std::string_view name) {
  for (const Remedy& remedy : kRemedies) {
    if (name.find(remedy.part) != name.npos) return std::string(remedy.action);
  }
  return "remove the wait from the loop, or do it every n-th iteration only";
}

}  // namespace

std::optional<Finding> find_host_sync(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool waits = slot.piece.cause == IdleCause::sync || slot.piece.cause == IdleCause::copy_wait;
    if (waits) tally.add(slot.piece.node, claim.take_idle(d, i));
  });
  if (!claim.keep()) return std::nullopt;
  const std::string_view worst = facts.name(NodeId{tally.tally().top().front().sample});
  return Finding{.finding = "the host waits for the device and lets it run dry: " + std::string(worst),
                 .saves_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = tally.text(),
                 .action = action_for(worst),
                 .event = tally.event()};
}

}  // namespace ridge
