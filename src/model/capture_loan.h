// Lends a trace of replayed graphs what another trace recorded when the graphs were captured: ops with their shapes, and the
// Python frames around them.
#pragma once

#include "model/model.h"
#include "trace/trace.h"

namespace ridge {

// Finds each graph that `replay` replays in the capture's trace and copies the calls of its nodes over, no more than those.
// What the trace itself tells of a graph counts where it tells more. Sets replay->borrowed in any case: how well the capture
// fits stands there. To be called before anything is made of `replay`; the capture is not needed any more afterwards.
void lend_capture(const Model& capture, Trace* replay);

}  // namespace ridge
