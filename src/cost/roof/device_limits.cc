// From the device's row or the trace's own description to limits.
#include "cost/roof/device_limits.h"

#include <algorithm>
#include <cmath>

#include "cost/cost_model.h"

namespace ridge {
namespace {

constexpr double kCountedOn = 60 * 1024.0 * 1024.0;  // bytes of L2 of an H200

// Of a row of the table; a cache beside the memory holds what left the L2.
void take(const DeviceSpec& device, DeviceLimits* limits) {
  const double cache = std::max(device.l2_bytes, device.memory_side_cache_bytes);
  if (cache > 0 && std::isfinite(cache)) limits->cache = cache / kCountedOn;
  if (device.multiprocessors > 0) limits->multiprocessors = static_cast<double>(device.multiprocessors);
}

DeviceLimits limits_of(const DeviceProperties& properties) {
  DeviceLimits out;
  if (const DeviceSpec* device = match_device(traits_of(properties))) take(*device, &out);
  if (const auto n = properties.multiprocessors.value_or(0); n > 0) out.multiprocessors = static_cast<double>(n);
  if (const auto n = properties.threads_per_multiprocessor.value_or(0); n > 0) out.threads = static_cast<double>(n);
  return out;
}

}  // namespace

DeviceTraits traits_of(const DeviceProperties& properties) {
  return {.name = properties.name,
          .memory_bytes = static_cast<double>(properties.memory_bytes.value_or(0)),
          .multiprocessors = properties.multiprocessors.value_or(0),
          .compute_major = properties.compute_major.value_or(0),
          .compute_minor = properties.compute_minor.value_or(0)};
}

DeviceLimits limits_of(const Metadata& metadata, const CostOptions& options) {
  DeviceLimits out;
  for (std::size_t i = 0; i < metadata.devices.size(); ++i) {
    const DeviceLimits limits = limits_of(metadata.devices[i]);
    out.cache = i == 0 ? limits.cache : std::min(out.cache, limits.cache);
    out.multiprocessors = i == 0 ? limits.multiprocessors : std::min(out.multiprocessors, limits.multiprocessors);
    out.threads = i == 0 ? limits.threads : std::min(out.threads, limits.threads);
  }
  if (options.device) take(*options.device, &out);
  return out;
}

}  // namespace ridge
