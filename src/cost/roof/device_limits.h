// DeviceLimits: what of a device decides which data a kernel finds in the cache: the last-level cache and the blocks that run
// at a time. The rules' limits were counted on an H200; on another device they stretch with its cache.
#pragma once

#include "device/device.h"
#include "trace/metadata.h"

namespace ridge {

struct CostOptions;

struct DeviceLimits {
  double cache = 1;  // the last-level cache, in units of an H200's; 1 also where the device or its cache is not known
  double multiprocessors = 132;
  double threads = 2048;  // that one of them holds
};

DeviceTraits traits_of(const DeviceProperties& properties);

// Of the device that was given, else of those that the trace describes; of several, the least of each.
DeviceLimits limits_of(const Metadata& metadata, const CostOptions& options);

}  // namespace ridge
