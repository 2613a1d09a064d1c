// The rows of the device table: what a device can do, and the names by which a trace may call it. Not for other layers: see
// device.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace ridge {

struct DeviceRow {
  DeviceSpec spec;
  // Each a set of words, normalised as device_name.h does: a device is meant when all of them stand in its name.
  // The first word is the family; the row with most words wins.
  std::vector<std::string_view> names;
  std::int64_t capability = 0;  // NVIDIA's, 90 for 9.0; 0: another vendor's, or not known
};

std::span<const DeviceRow> device_rows();

}  // namespace ridge
