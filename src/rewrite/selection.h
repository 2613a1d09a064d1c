// Which events a part of a trace holds: what starts in it, and what that needs to stay whole: launches with their kernels and
// the ops around them, both ends of every flow, the shadow of an annotation on the device.
#pragma once

#include <vector>

#include "facts/scope.h"

namespace ridge {

// By EventId. Metadata events are always in.
std::vector<bool> select_events(const Scope& scope);

}  // namespace ridge
