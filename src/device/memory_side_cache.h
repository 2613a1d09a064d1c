// A cache between the L2 and the memory (AMD's Infinity Cache), where a device has one: what is found there is not read from memory.
#pragma once

#include "device/device.h"

namespace ridge {

// Bytes, by the name of the device's row; 0 when it has none or it is not known.
double memory_side_cache_bytes(const DeviceSpec& device);

}  // namespace ridge
