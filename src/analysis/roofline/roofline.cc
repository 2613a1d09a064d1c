// The points and the roofs; the table and the picture are in roofline_report.cc.
#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <set>

#include "analysis/catalog.h"

namespace ridge {
namespace {

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

}  // namespace

RoofPoint roof_point(const CostSum& sum) {
  const CostSum cost = sum.told();
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

Roofline compute_roofline(const Scope& scope) {
  Roofline out;
  out.kernels = compute_kernels(scope);
  add_roofs(scope, &out);
  out.use = compute_utilisation(scope);
  return out;
}

Result<Report> run_roofline(const Scope& scope, const Arguments&) { return report_roofline(compute_roofline(scope)); }

}  // namespace ridge
