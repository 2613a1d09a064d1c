// Which row of a trace's deviceProperties describes a device. A process that sees one GPU of several lists it as device 0,
// while the profiler may number its work by the machine's count: one row and one device in use leave no doubt.
#pragma once

#include <cstdint>

#include "model/model.h"

namespace ridge {

// By id; the only row for the only device with work. nullptr when the trace says nothing of the device.
const DeviceProperties* properties_of(const Model& model, std::int64_t device);

}  // namespace ridge
