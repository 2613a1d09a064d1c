#include "analysis/diff/totals.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "analysis/breaks.h"
#include "analysis/gpu.h"
#include "analysis/launches.h"
#include "analysis/scoped_work.h"
#include "base/saturating.h"

namespace ridge::diff {
namespace {

std::int64_t per_iteration(std::int64_t total, std::int64_t iterations) {
  return total / iterations + (total % iterations * 2 >= iterations ? 1 : 0);
}

void add_time(const Scope& scope, SideTotals& out) {
  const Gpu gpu = compute_gpu(scope);
  std::int64_t busy = 0;
  std::array<std::int64_t, kIdleCauses> idle{};
  for (const GpuDevice& device : gpu.devices) {
    saturating_add(&busy, device.busy_ns);
    // What lies before the first and behind the last work is the recording's, not an iteration's.
    for (std::size_t c = 0; c < kIdleCauses; ++c) {
      if (c != static_cast<std::size_t>(IdleCause::head_tail)) saturating_add(&idle[c], device.idle[c].time_ns);
    }
    if (out.device.empty()) out.device = device.name;
  }
  out.busy_ns = per_iteration(busy, out.iterations);
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    out.idle_by_cause_ns[c] = per_iteration(idle[c], out.iterations);
    saturating_add(&out.idle_ns, out.idle_by_cause_ns[c]);
  }
  std::int64_t wall = 0;
  for (const std::size_t i : scope.iterations()) {
    const Iteration& iteration = scope.model().iterations().list[i];
    saturating_add(&wall, iteration.span.duration_ns());
  }
  out.wall_ns = per_iteration(wall != 0 ? wall : scope.window().duration_ns(), out.iterations);
}

void add_launches(const Scope& scope, SideTotals& out) {
  const auto iterations = static_cast<double>(out.iterations);
  double host = 0, calls = 0;
  for (const DeviceLaunches& device : compute_launches(scope).devices) {
    out.launches += static_cast<double>(device.calls) / iterations;
    out.graph_launches += static_cast<double>(device.from_graphs) / iterations;
    if (device.host_ns_per_launch) {
      host += *device.host_ns_per_launch * static_cast<double>(device.calls);
      calls += static_cast<double>(device.calls);
    }
  }
  if (calls > 0) out.host_ns_per_launch = host / calls;
}

void add_rates(const Scope& scope, SideTotals& out) {
  double flops = 0, bytes = 0, costed = 0, all = 0, flops_ns = 0, bytes_ns = 0;
  bool any_flops = false, all_flops = true, any_bytes = false;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const LaunchCost& cost = scope.costs()[work.row];
    const auto time = static_cast<double>(duration_ns(work));
    all += time;
    if (cost.flops || cost.bytes_read || cost.bytes_written) costed += time;
    if (cost.flops) {
      any_flops = true;
      flops += *cost.flops;
      flops_ns += time;
    } else {
      all_flops = false;
    }
    if (cost.bytes_read || cost.bytes_written) {
      any_bytes = true;
      bytes += cost.bytes_read.value_or(0) + cost.bytes_written.value_or(0);
      bytes_ns += time;
    }
  });
  const auto iterations = static_cast<double>(out.iterations);
  // Pointwise work has none. Where that is all that is known, how many there are is not.
  any_flops = any_flops && (flops > 0 || all_flops);
  if (any_flops) out.flops = flops / iterations;
  if (any_bytes) out.bytes = bytes / iterations;
  if (any_flops && flops_ns > 0) out.flops_per_s = flops / (flops_ns * 1e-9);
  if (any_bytes && bytes_ns > 0) out.bytes_per_s = bytes / (bytes_ns * 1e-9);
  if (all > 0) out.costed_pct = 100 * costed / all;
}

}  // namespace

SideTotals compute_totals(const Scope& scope, const Template& iteration) {
  SideTotals out;
  out.name = std::filesystem::path(scope.trace().path).filename().string();
  out.iterations = std::max<std::int64_t>(1, iteration.iterations);
  out.per = name_of(scope.model().iterations().rule);
  out.folded_ns = iteration.folded_ns;
  out.has_host_events = scope.model().tree().size() > 0;
  out.cut_short = is_cut_short(scope.trace());
  out.gpu_time = {iteration.gpu_time.count, 0, iteration.gpu_time.variance()};
  add_time(scope, out);
  add_launches(scope, out);
  add_rates(scope, out);
  return out;
}

void add_device_time(const Template& t, SideTotals& out) {
  for (const Position& position : t.positions) {
    for (const SlotTime& slot : position.slots) {
      const auto category = static_cast<std::size_t>(slot.category);
      const double count = static_cast<double>(slot.launches) /
                           static_cast<double>(std::max<std::int64_t>(1, t.iterations + slot.extra_iterations));
      saturating_add(&out.gpu_ns, slot.per_iteration_ns);
      saturating_add(&out.category_ns[category], slot.per_iteration_ns);
      out.category_count[category] += count;
      out.work += count;
    }
  }
  out.gpu_time.mean = static_cast<double>(out.gpu_ns);
}

std::vector<BreakChange> compare_breaks(std::span<const Scope> scopes, std::span<const Template> templates) {
  std::vector<Breaks> all;
  bool located = true;
  for (const Scope& scope : scopes) {
    all.push_back(compute_breaks(scope));
    for (const GraphBreak& b : all.back().breaks) located = located && !b.location.empty();
  }
  std::map<std::string, BreakChange> changes;
  for (std::size_t t = 0; t < scopes.size(); ++t) {
    const auto iterations = static_cast<double>(std::max<std::int64_t>(1, templates[t].iterations));
    for (const GraphBreak& b : all[t].breaks) {
      const std::string frame = b.frame.known() ? "frame " + text_of(b.frame) : "depth " + std::to_string(b.depth);
      BreakChange& change = changes[located ? b.location : frame];
      change.occurrences.resize(scopes.size());
      change.occurrences[t] += static_cast<double>(b.occurrences) / iterations;
      if (change.location.empty()) change.location = b.location.empty() ? frame : b.location;
      if (change.reason.empty()) change.reason = b.reason;
    }
  }
  std::vector<BreakChange> out;
  for (auto& [key, change] : changes) out.push_back(std::move(change));
  return out;
}

}  // namespace ridge::diff
