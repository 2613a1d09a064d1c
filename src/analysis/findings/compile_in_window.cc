// compile_in_window: the device idled while the host compiled, or ran what the compiler tried, other than for recompiles and
// autotuning. Before the first work too: a window that begins with a compilation measures that.
#include <map>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"
#include "base/units.h"

namespace ridge {
namespace {

// Outermost phases by compile id, less the autotuning in them, which is a finding of its own.
std::map<CompileId, std::int64_t> by_compilation(const Facts& facts) {
  const std::vector<CompilePhase>& phases = facts.model().compile_phases().phases;
  std::vector<std::uint32_t> outermost(phases.size());
  std::map<CompileId, std::int64_t> by_id;
  for (std::uint32_t i = 0; i < phases.size(); ++i) {
    const CompilePhase& phase = phases[i];
    const bool is_root = phase.parent == kNoPhase;
    outermost[i] = is_root ? i : outermost[phase.parent];
    const CompilePhase& root = phases[outermost[i]];
    if (root.id.compile > 0 || root.autotune || !facts.scope().holds(root.node)) continue;  // a recompile, too, has its finding
    if (is_root) saturating_add(&by_id[root.id], facts.tree().duration_ns(root.node));
    if (phase.autotune && !phases[phase.parent].autotune) by_id[root.id] -= facts.tree().duration_ns(phase.node);
  }
  std::erase_if(by_id, [](const auto& entry) { return entry.second <= 0; });
  return by_id;
}

// Where there are no phases (stacks alone show it), the frames.
std::string compilations(const Facts& facts, const HostTally& tally) {
  const std::map<CompileId, std::int64_t> by_id = by_compilation(facts);
  if (by_id.empty()) return tally.text();
  std::string out = "host time by compilation: ";
  std::size_t shown = 0;
  for (const auto& [id, ns] : by_id) {
    if (shown == kShown) return out + and_more(by_id.size() - kShown);
    const std::string text = id.known() ? text_of(id) : "unnamed";
    out += fmt::format("{}{}, {}", shown++ == 0 ? "" : "; ", text, format_duration(static_cast<double>(ns)));
  }
  return out;
}

}  // namespace

std::optional<Finding> find_compile_in_window(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts);
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause == IdleCause::compile) tally.add(slot.piece.node, claim.take_idle(d, i), d);
  });
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (facts.is_compilers(slot.work.row)) claim.take_work(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  return Finding{.finding = "compilation (torch.compile or Triton) inside the window",
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = compilations(facts, tally),
                 .action = "run a few warm-up iterations before recording (torch.profiler.schedule with wait and warmup)",
                 .event = tally.event()};
}

}  // namespace ridge
