// autotune_in_window: the tuner's kernels and the idle time under its spans. It runs once per kernel, so all of it goes with a
// warm-up.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"
#include "base/units.h"

namespace ridge {
namespace {

// Each name once: two graphs may have kernels of one name.
std::string tuned_kernels(Facts& facts) {
  std::int64_t launches = 0;
  std::vector<std::pair<std::string_view, std::int64_t>> times;  // in order of time
  for (const TunedKernel& kernel : facts.compile().kernels) {
    launches += kernel.launches;
    if (kernel.kernel.empty()) continue;
    const auto same = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.first == kernel.kernel; });
    if (same == times.end()) {
      times.emplace_back(kernel.kernel, kernel.total_ns);
    } else {
      saturating_add(&same->second, kernel.total_ns);
    }
  }
  std::stable_sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out = format_count(launches) + (launches == 1 ? " autotuner launch" : " autotuner launches");
  for (std::size_t i = 0; i < times.size() && i < kShown; ++i) {
    out += fmt::format("{} {} ({})", i == 0 ? ":" : ",", times[i].first, format_duration(static_cast<double>(times[i].second)));
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
