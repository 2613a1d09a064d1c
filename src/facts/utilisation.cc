// Kernel costs summed by iteration, over the iteration's duration. Too little known: no percentage.
#include "facts/utilisation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/saturating.h"
#include "facts/iteration_time.h"
#include "facts/scoped_work.h"
#include "model/iterations.h"

namespace ridge {
namespace {

constexpr double kEnoughKnown = 90;  // percent of the kernels' time: with less, a share of the peak is too low by far

std::optional<double> share_of_duration(const KnownSum& ns_at_peak, std::optional<double> known_pct, const IterationUse& use,
                                        std::int64_t devices) {
  if (!ns_at_peak.known || known_pct.value_or(0) < kEnoughKnown || use.duration_ns <= 0 || devices <= 0) return std::nullopt;
  return 100.0 * ns_at_peak.sum / (static_cast<double>(use.duration_ns) * static_cast<double>(devices));
}

// Share of the time whose FLOPs are known and whose type has a peak on the device.
std::optional<double> peak_known_pct(const IterationUse& use) {
  if (use.cost.time_ns <= 0) return std::nullopt;
  return 100.0 * static_cast<double>(use.flops_ns.time_ns) / static_cast<double>(use.cost.time_ns);
}

// What the peak would need for the FLOPs of a launch; nothing where they or the peak are not known.
std::optional<double> ns_at_peak(const CostModel& costs, std::size_t row, std::int64_t device, double time_ns) {
  const LaunchCost& cost = costs[row];
  if (costs.device(device) == nullptr) return std::nullopt;
  if (cost.flops == 0.0) return 0.0;
  const auto percent = (cost.matrix ? roof_of(cost, true, time_ns, 1, costs.device(device)) : costs.roof(row)).pct_peak_flops;
  return percent && std::isfinite(*percent) ? std::optional(*percent / 100 * time_ns) : std::nullopt;
}

}  // namespace

Utilisation compute_utilisation(const Scope& all_of_it) {
  const Scope scope = all_of_it.of_whole_iterations();
  Utilisation out;
  const Model& model = scope.model();
  const std::vector<Iteration>& list = model.iterations().list;
  std::vector<IterationUse> sums(list.size());
  IterationUse all;
  std::set<std::int64_t> devices;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (scope.trace().kind(scope.trace().of(EventClass::device_work)[work.row]).work != DeviceWork::kernel) return;
    devices.insert(device.id);
    const std::optional<std::size_t> at =
        iteration_of_work(model.trace(), model.tree(), model.links(), model.iterations(), work.row);
    if (!at) return;
    const auto flops_ns = ns_at_peak(scope.costs(), work.row, device.id, static_cast<double>(duration_ns(work)));
    for (IterationUse* use : {&sums[*at], &all}) {
      use->cost.add(scope.costs(), work.row, device.id, duration_ns(work));
      if (flops_ns) use->flops_ns.add(*flops_ns, duration_ns(work));
    }
  });
  out.devices = static_cast<std::int64_t>(devices.size());
  if (scope.by_time()) return out;  // parts of iterations have no duration to hold their work against
  const std::vector<std::size_t> inside = scope.iterations();
  const IterationTime time = iteration_time(scope);
  for (std::size_t at = 0; at < inside.size(); ++at) {
    const std::size_t i = inside[at];
    out.iterations.push_back({list[i].number, time.durations_ns[at], sums[i].cost, sums[i].flops_ns});
    saturating_add(&out.all.duration_ns, time.durations_ns[at]);
  }
  if (inside.empty()) return out;
  out.all.cost = all.cost;
  out.all.flops_ns = all.flops_ns;
  return out;
}

std::optional<double> mfu_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.flops_ns, peak_known_pct(use), use, devices);
}
std::optional<double> bandwidth_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_bytes_ns, use.cost.bytes_known_pct(), use, devices);
}

}  // namespace ridge
