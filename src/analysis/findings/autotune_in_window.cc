// autotune_in_window: the tuner's kernels and the idle time under its spans. It runs once per kernel, so all of it goes with a
// warm-up.
#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/units.h"

namespace ridge {
namespace {

std::string tuned_kernels(Facts& facts) {
  const Compile& compile = facts.compile();
  std::int64_t launches = 0;
  for (const TunedKernel& kernel : compile.kernels) launches += kernel.launches;
  std::string out = format_count(launches) + (launches == 1 ? " autotuner launch" : " autotuner launches");
  std::size_t shown = 0;
  for (const TunedKernel& kernel : compile.kernels) {
    if (kernel.kernel.empty() || shown == kShown) continue;
    out += fmt::format("{} {} ({})", shown++ == 0 ? ":" : ",", kernel.kernel,
                       format_duration(static_cast<double>(kernel.total_ns)));
  }
  return out;
}

}  // namespace

std::optional<Finding> find_autotune_in_window(Facts& facts) {
  const Autotuning& tuning = facts.model().autotuning();
  if (tuning.spans.empty()) return std::nullopt;
  Claim claim(facts.ledger());
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (tuning.holds_work(slot.work.row)) claim.take_work(d, i);
  });
  Largest longest;
  for (const NodeId span : tuning.spans) {
    if (!facts.scope().holds(span)) continue;
    longest.see(span.value, facts.tree().duration_ns(span));
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) claim.take_idle_within(d, facts.time(span));
  }
  if (!claim.keep()) return std::nullopt;
  return Finding{.finding = "autotuning inside the window",
                 .at_most_ns = claim.ns(),
                 .confidence = Confidence::high,
                 .evidence = tuned_kernels(facts),
                 .action = "warm up before measuring, and keep Inductor's cache (TORCHINDUCTOR_CACHE_DIR) between runs",
                 .event = facts.event_of(longest.id())};
}

}  // namespace ridge
