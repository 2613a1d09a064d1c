// Kernel costs summed by iteration, over the iteration's duration. Too little known: no percentage.
#include "facts/utilisation.h"

#include <algorithm>
#include <set>

#include "base/saturating.h"
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
std::optional<double> peak_known_pct(const CostSum& cost) {
  if (cost.time_ns <= 0) return std::nullopt;
  return 100.0 * static_cast<double>(cost.peak_flops_ns.time_ns) / static_cast<double>(cost.time_ns);
}

}  // namespace

Utilisation compute_utilisation(const Scope& scope) {
  Utilisation out;
  const Model& model = scope.model();
  const std::vector<Iteration>& list = model.iterations().list;
  std::vector<CostSum> sums(list.size());
  CostSum all;
  std::set<std::int64_t> devices;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (scope.trace().kind(scope.trace().of(EventClass::device_work)[work.row]).work != DeviceWork::kernel) return;
    devices.insert(device.id);
    const std::optional<std::size_t> at =
        iteration_of_work(model.trace(), model.tree(), model.links(), model.iterations(), work.row);
    if (!at) return;
    sums[*at].add(scope.costs(), work.row, device.id, duration_ns(work));
    all.add(scope.costs(), work.row, device.id, duration_ns(work));
  });
  out.devices = static_cast<std::int64_t>(devices.size());
  const std::vector<std::size_t> inside = scope.iterations();
  for (const std::size_t i : inside) {
    out.iterations.push_back({list[i].number, list[i].span.duration_ns(), sums[i]});
    saturating_add(&out.all.duration_ns, list[i].span.duration_ns());
  }
  if (inside.empty()) return out;
  out.all.cost = all;
  return out;
}

std::optional<double> mfu_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_flops_ns, peak_known_pct(use.cost), use, devices);
}
std::optional<double> bandwidth_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_bytes_ns, use.cost.bytes_known_pct(), use, devices);
}

}  // namespace ridge
