// autotune_in_window: the tuner's kernels and the idle time under its spans, or within the runs of a tuner that has none. It
// runs once per kernel, so all of it goes with a warm-up.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"
#include "base/units.h"
#include "model/benchmark_runs.h"

namespace ridge {
namespace {

// Those that no span of a tuner holds: what is under one is told by the span.
std::vector<BenchmarkRun> own_runs(const Facts& facts) {
  const Model& model = facts.model();
  std::vector<BenchmarkRun> runs = find_benchmark_runs(model.trace(), model.tree(), model.links());
  std::erase_if(runs, [&](const BenchmarkRun& run) {
    const NodeId parent = model.tree().parent[run.first.value];
    return parent != kNoNode && model.autotuning().holds(parent);
  });
  return runs;
}

Interval time_of(const Facts& facts, const BenchmarkRun& run) {
  return {facts.time(run.first).start_ns, facts.time(run.last).end_ns};
}

std::string_view kernel_of(const Facts& facts, NodeId launch) {
  const Trace& trace = facts.model().trace();
  const std::vector<NodeId>& launches = facts.model().links().launch;
  const auto row = std::find(launches.begin(), launches.end(), launch) - launches.begin();
  return trace.text(trace.events.name(trace.of(EventClass::device_work)[static_cast<std::size_t>(row)]));
}

std::int64_t launches_of(const Facts& facts, const std::vector<BenchmarkRun>& runs) {
  std::int64_t count = 0;
  const std::vector<NodeId>& launches = facts.model().links().launch;
  for (std::size_t row = 0; row < launches.size() && !runs.empty(); ++row) {
    if (launches[row] == kNoNode || !facts.scope().holds_work(row)) continue;
    const auto after = std::upper_bound(runs.begin(), runs.end(), launches[row],
                                        [](NodeId launch, const BenchmarkRun& run) { return launch < run.first; });
    count += after != runs.begin() && launches[row] <= std::prev(after)->last ? 1 : 0;
  }
  return count;
}

// Each name once: two graphs may have kernels of one name. A tuner without spans tunes what it launched.
std::string tuned_kernels(Facts& facts, const std::vector<BenchmarkRun>& runs) {
  std::int64_t launches = 0;
  std::vector<std::pair<std::string_view, std::int64_t>> times;  // in order of time
  const auto add = [&](std::string_view kernel, std::int64_t ns) {
    const auto same = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.first == kernel; });
    if (same == times.end()) {
      times.emplace_back(kernel, ns);
    } else {
      saturating_add(&same->second, ns);
    }
  };
  for (const TunedKernel& kernel : facts.compile().kernels) {
    launches += kernel.launches;
    if (!kernel.kernel.empty()) add(kernel.kernel, kernel.total_ns);
  }
  for (const BenchmarkRun& run : runs) {
    if (facts.scope().holds(run.first)) add(kernel_of(facts, run.first), time_of(facts, run).length());
  }
  launches += launches_of(facts, runs);
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
  if (tuning.node.empty()) return std::nullopt;
  Claim claim(facts.ledger());
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (tuning.holds_work(slot.work.row)) claim.take_work(d, i);
  });
  Largest longest;
  const auto take = [&](NodeId node, Interval time) {
    if (!facts.scope().holds(node)) return;
    longest.see(node.value, time.length());
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) claim.take_idle_within(d, time);
  };
  for (const NodeId span : tuning.spans) take(span, facts.time(span));
  const std::vector<BenchmarkRun> runs = own_runs(facts);
  for (const BenchmarkRun& run : runs) take(run.first, time_of(facts, run));
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "autotuning inside the window",
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tuned_kernels(facts, runs),
      .action = tuning.spans.empty()
                    ? "warm up before measuring, and keep what was tuned between runs (triton.autotune: cache_results=True)"
                    : "warm up before measuring, and keep Inductor's cache (TORCHINDUCTOR_CACHE_DIR) between runs",
      .event = facts.event_of(longest.id())};
}

}  // namespace ridge
