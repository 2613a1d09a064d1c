// The roof: the least time that a device needs for some work, and what holds the work back from it.
#include <algorithm>
#include <cmath>

#include "cost/cost_model.h"

namespace ridge {
namespace {

constexpr std::string_view kBounds[] = {"", "compute", "memory", "latency"};

// A launch costs about this much whatever it does (ramp up, tail, and for small work the round trips to memory). Work that
// takes no longer than its roof and this is not held back by a roof.
constexpr double kLaunchNs = 3000;
// Below this share of the time a roof explains nothing.
constexpr double kLeastShare = 0.1;

std::optional<double> percent_of(std::optional<double> amount, double time_ns, const Figure& peak) {
  if (!amount || time_ns <= 0 || !peak.known()) return std::nullopt;
  return 100 * *amount / (time_ns * 1e-9) / peak.high;
}

std::optional<double> least_ns(std::optional<double> amount, const Figure& peak) {
  if (!amount) return std::nullopt;
  if (*amount == 0) return 0.0;
  return peak.known() ? std::optional(*amount / peak.high * 1e9) : std::nullopt;
}

std::optional<double> all_bytes(const LaunchCost& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;  // a part of them is no bandwidth
  return *cost.bytes_read + *cost.bytes_written;
}

}  // namespace

std::string_view name_of(Bound bound) { return kBounds[static_cast<std::size_t>(bound)]; }

Roof roof_of(const LaunchCost& cost, bool matrix_work, double time_ns, std::int64_t launches, const DeviceSpec* device) {
  Roof roof;
  if (device == nullptr) return roof;
  const Figure peak = peak_flops(*device, cost.dtype, matrix_work ? MathUnit::matrix : MathUnit::vector);
  const std::optional<double> bytes = all_bytes(cost);
  roof.pct_peak_flops = cost.flops == 0.0 ? std::optional(0.0) : percent_of(cost.flops, time_ns, peak);
  roof.pct_peak_bandwidth = percent_of(bytes, time_ns, device->bandwidth);

  std::optional<double> compute_ns = least_ns(cost.flops, peak);
  if (!matrix_work && cost.flops_pointwise) {
    const auto pointwise_ns = least_ns(cost.flops_pointwise, peak);
    if (pointwise_ns) compute_ns = compute_ns.value_or(0) + *pointwise_ns;
  }
  if (cost.flops && !compute_ns) return roof;  // it computes, and nobody says how fast the device does that
  const std::optional<double> memory_ns = least_ns(bytes, device->bandwidth);
  if (!memory_ns && compute_ns.value_or(0) == 0) return roof;  // nothing that takes time is known
  roof.roof_ns = std::max(compute_ns.value_or(0), memory_ns.value_or(0));
  roof.headroom_ns = std::max(time_ns - *roof.roof_ns, 0.0);

  const double overhead_ns = kLaunchNs * static_cast<double>(std::max<std::int64_t>(launches, 1));
  const bool explained =
      *roof.roof_ns >= kLeastShare * time_ns && (*roof.roof_ns >= time_ns / 2 || time_ns > *roof.roof_ns + overhead_ns);
  if (!explained) {
    // Where one side is not known, it may be the one that explains.
    if (compute_ns && memory_ns) roof.bound = Bound::latency;
  } else {
    roof.bound = compute_ns.value_or(0) >= memory_ns.value_or(0) ? Bound::compute : Bound::memory;
  }
  return roof;
}

}  // namespace ridge
