// A kernel whose configuration was kept, which the program ran and nobody tuned in the window, was taken from the cache.
#include <algorithm>
#include <set>

#include "analysis/autotune/autotune.h"
#include "cost/config_cache.h"
#include "predict/kept_config.h"
#include "trace/tables.h"

namespace ridge {
std::vector<KeptTuning> kept_tunings(const Scope& scope, const std::vector<TunedOnce>& tunings, bool* has_cache) {
  const auto* cache = dynamic_cast<const ConfigCache*>(scope.costs().options().sources);
  const std::vector<KeptConfig> found = cache != nullptr ? cache->kept_configs() : std::vector<KeptConfig>();
  *has_cache = !found.empty();
  std::vector<KeptTuning> out;
  if (found.empty()) return out;
  const Trace& trace = scope.trace();
  std::set<std::string_view> ran, tuned;
  for (const EventId event : trace.of(EventClass::device_work)) {
    const std::string_view name = trace.text(trace.events.name(event));
    if (name.starts_with("triton")) ran.insert(name);
  }
  for (const TunedOnce& tuning : tunings) {
    tuned.insert(tuning.what);
    for (const TriedConfig& config : tuning.tried) tuned.insert(config.kernel);
  }
  for (const KeptConfig& kept : found) {
    KeptTuning one;
    one.file = kept.file;
    const KeptConfigFacts facts = read_kept_config(kept.text);
    one.config = facts.config;
    one.took_ms = facts.took_ms;
    one.by_descent = facts.by_descent;
    for (const std::string& kernel : kept.kernels) {
      if (!one.kernel.empty() && !ran.contains(kernel)) continue;
      one.kernel = kernel;
      if (ran.contains(kernel)) break;
    }
    if (ran.contains(one.kernel)) one.state = tuned.contains(one.kernel) ? KeptState::tuned_here : KeptState::hit;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace ridge
