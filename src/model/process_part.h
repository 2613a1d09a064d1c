// A trace may hold several programs side by side: the ranks of a job, combined. What is asked of one device is asked of the
// programs that use it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/model.h"

namespace ridge {

// The tracks, by TrackId, of the processes that launch work on a device, and of that work: all but those of processes that
// launch on other devices only. Nothing when that is the whole trace.
std::optional<std::vector<bool>> tracks_of_device(const Model& model, std::int64_t device);

}  // namespace ridge
