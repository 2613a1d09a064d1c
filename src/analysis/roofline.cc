#include "analysis/roofline.h"

#include <algorithm>
#include <set>

#include "analysis/catalog.h"
#include "analysis/scoped_work.h"
#include "model/iterations.h"

namespace ridge {
namespace {

// The iteration that holds the launch; of work without one, the iteration in which it starts.
std::optional<std::size_t> iteration_of(const Model& model, const WorkRow& work) {
  const NodeId launch = model.links().launch[work.row];
  return model.iterations().at(launch != kNoNode ? model.tree().start_ns[launch.value] : work.start_ns);
}

void add_iterations(const Scope& scope, Roofline* out) {
  const Model& model = scope.model();
  const std::vector<Iteration>& list = model.iterations().list;
  std::vector<CostSum> sums(list.size());
  CostSum all;
  std::set<std::int64_t> devices;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (scope.trace().kind(scope.trace().of(EventClass::device_work)[work.row]).work != DeviceWork::kernel) return;
    devices.insert(device.id);
    const std::optional<std::size_t> at = iteration_of(model, work);
    if (!at) return;
    sums[*at].add(scope.costs(), work.row, device.id, duration_ns(work));
    all.add(scope.costs(), work.row, device.id, duration_ns(work));
  });
  out->devices = static_cast<std::int64_t>(devices.size());
  const std::vector<std::size_t> inside = scope.iterations();
  for (const std::size_t i : inside) {
    out->iterations.push_back({list[i].number, list[i].span.duration_ns(), sums[i]});
  }
  if (inside.empty()) return;
  out->all.duration_ns = list[inside.back()].span.end_ns - list[inside.front()].span.start_ns;
  out->all.cost = all;
}

// The dtypes that some kernel computes in, by the sort of unit that its category uses.
void add_roofs(const Scope& scope, Roofline* out) {
  for (const Device& device : scope.model().timeline().devices) {
    const DeviceSpec* spec = scope.has_device(device.id) ? scope.costs().device(device.id) : nullptr;
    if (spec == nullptr) continue;
    std::uint32_t dtypes = 0;
    for (const KernelRow& row : out->kernels.rows) {
      if (row.device == device.id) dtypes |= row.cost.dtypes;
    }
    std::set<double> vector_peaks;
    for (const MathUnit unit : {MathUnit::matrix, MathUnit::vector}) {
      for (std::size_t i = 0; i < kDTypes; ++i) {
        const auto dtype = static_cast<DType>(i);
        const Figure peak = (dtypes >> i & 1U) != 0 ? peak_flops(*spec, dtype, unit) : Figure{};
        if (!peak.known()) continue;
        if (unit == MathUnit::vector && !vector_peaks.insert(peak.high).second) continue;  // 16 bits have that of float32
        out->roofs.push_back({device.id, *spec, dtype, unit, peak});
      }
    }
  }
}

// Of an iteration whose figures are known for less than half of its kernels' time, nothing can be said.
std::optional<double> share_of_duration(const KnownSum& ns_at_peak, std::optional<double> known_pct, const IterationUse& use,
                                        std::int64_t devices) {
  if (!ns_at_peak.known || known_pct.value_or(0) < 50 || use.duration_ns <= 0 || devices <= 0) return std::nullopt;
  return 100.0 * ns_at_peak.sum / (static_cast<double>(use.duration_ns) * static_cast<double>(devices));
}

}  // namespace

RoofPoint roof_point(const CostSum& cost) {
  RoofPoint point;
  point.pct_of_roof = cost.roof_ns.pct_of_time();
  const bool by_estimate = cost.flops.value().value_or(0) == 0 && cost.flops_pointwise.known;
  const KnownSum& flops = by_estimate ? cost.flops_pointwise : cost.flops;
  point.flops_per_s = flops.per_second();
  if (!flops.known) return point;
  // Figures of different launches make no ratio.
  if (flops.time_ns == cost.bytes.time_ns && cost.bytes.sum > 0) point.intensity = flops.sum / cost.bytes.sum;
  if (flops.time_ns == cost.roof_ns.time_ns && cost.roof_ns.sum > 0)
    point.roof_flops_per_s = flops.sum / cost.roof_ns.sum * 1e9;
  return point;
}

std::optional<double> mfu_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_flops_ns, use.cost.flops_known_pct(), use, devices);
}
std::optional<double> bandwidth_pct(const IterationUse& use, std::int64_t devices) {
  return share_of_duration(use.cost.peak_bytes_ns, use.cost.bytes_known_pct(), use, devices);
}

Roofline compute_roofline(const Scope& scope) {
  Roofline out;
  out.kernels = compute_kernels(scope);
  add_roofs(scope, &out);
  add_iterations(scope, &out);
  return out;
}

Result<Report> run_roofline(const Scope& scope, const Arguments&) { return report_roofline(compute_roofline(scope)); }

}  // namespace ridge
