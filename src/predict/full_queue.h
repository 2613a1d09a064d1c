// Launches that waited for a place in the driver's queue: the host is far ahead of the device, and the call returns when a
// piece of work has ended. Such time is the device's, not the host's.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"

namespace ridge {

// Nodes of the tree, in order.
std::vector<std::uint32_t> launches_at_a_full_queue(const Model& model);

}  // namespace ridge
