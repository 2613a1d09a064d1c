#include "analysis/utilisation.h"

#include <algorithm>
#include <set>

#include "analysis/scoped_work.h"
#include "model/iterations.h"

namespace ridge {
namespace {

// Sums over one iteration, or over all.
struct IterationSum {
  CostSum cost;
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;  // of the device's work

  void add(const CostModel& costs, std::int64_t device, const WorkRow& work) {
    cost.add(costs, work.row, device, duration_ns(work));
    first_ns = std::min(first_ns, work.start_ns);
    last_ns = std::max(last_ns, work.end_ns);
  }
  std::int64_t device_span_ns() const { return last_ns > first_ns ? last_ns - first_ns : 0; }
};

// The iteration that holds the launch; of work without one, the iteration in which it starts.
std::optional<std::size_t> iteration_of(const Model& model, const WorkRow& work) {
  const NodeId launch = model.links().launch[work.row];
  return model.iterations().at(launch != kNoNode ? model.tree().start_ns[launch.value] : work.start_ns);
}

std::optional<double> share_of_duration(const KnownSum& ns_at_peak, const IterationUse& use, std::int64_t devices) {
  if (!ns_at_peak.known || use.duration_ns <= 0 || devices <= 0) return std::nullopt;
  return 100.0 * ns_at_peak.sum / (static_cast<double>(use.duration_ns) * static_cast<double>(devices));
}

}  // namespace

Utilisation compute_utilisation(const Scope& scope) {
  Utilisation out;
  const Model& model = scope.model();
  const std::vector<Iteration>& list = model.iterations().list;
  std::vector<IterationSum> sums(list.size());
  IterationSum all;
  std::set<std::int64_t> devices;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (scope.trace().kind(scope.trace().of(EventClass::device_work)[work.row]).work != DeviceWork::kernel) return;
    devices.insert(device.id);
    const std::optional<std::size_t> at = iteration_of(model, work);
    if (!at) return;
    sums[*at].add(scope.costs(), device.id, work);
    all.add(scope.costs(), device.id, work);
  });
  out.devices = static_cast<std::int64_t>(devices.size());
  const std::vector<std::size_t> inside = scope.iterations();
  for (const std::size_t i : inside) {
    const std::int64_t next = i + 1 < list.size() ? std::max(list[i].end_ns, list[i + 1].start_ns) : list[i].end_ns;
    const std::int64_t end = std::max(list[i].start_ns, std::min(next, scope.window().end_ns));
    out.iterations.push_back({list[i].number, std::max(end - list[i].start_ns, sums[i].device_span_ns()), sums[i].cost});
  }
  if (inside.empty()) return out;
  const std::int64_t start = list[inside.front()].start_ns;
  out.all.duration_ns = std::max(list[inside.back()].end_ns, all.last_ns) - start;
  out.all.cost = all.cost;
  return out;
}

std::optional<double> mfu_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_flops_ns, use, devices);
}
std::optional<double> bandwidth_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_bytes_ns, use, devices);
}

}  // namespace ridge
