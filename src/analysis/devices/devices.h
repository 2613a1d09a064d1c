// devices: the devices whose peaks are known. Needs no trace.
//
// A figure is the highest of its range, against which percentages are taken; `ranges` has those on which vendors disagree.
#pragma once

#include <vector>

#include <ridge/report.h>

#include "cost/cost_model.h"
#include "device/device.h"

namespace ridge {

// Those of the table, or the one that the options name; at the clock that they name.
std::vector<DeviceSpec> compute_devices(const CostOptions& options);
Report report_devices(const std::vector<DeviceSpec>& devices);

}  // namespace ridge
