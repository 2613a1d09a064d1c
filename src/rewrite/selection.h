// Which events a part of a trace holds: what starts in it, and what that needs to stay whole: launches with their kernels and
// the ops around them, both ends of every flow, the shadow of an annotation on the device. A Python frame is of the part that
// has most of it, on a thread that launches nothing of the part only if it lies inside whole.
#pragma once

#include <vector>

#include "facts/scope.h"

namespace ridge {

// By EventId. Metadata events are always in.
std::vector<bool> select_events(const Scope& scope);

}  // namespace ridge
