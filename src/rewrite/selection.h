// Which events a part of a trace holds: what starts in it, and what that needs to stay whole: launches with their kernels and
// the ops around them, both ends of every flow, the shadow of an annotation on the device.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/model.h"

namespace ridge {

struct CutRange {
  std::function<TimeRange(TrackId)> window;         // of the trace's own times; what starts in it
  std::function<bool(std::size_t row)> holds_work;  // device work, by row of trace.of(device_work)
};

// By EventId. Metadata events are always in.
std::vector<bool> select_events(const Model& model, const CutRange& range);

}  // namespace ridge
