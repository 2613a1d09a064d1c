// What stands at a graph break: the work between a frame's last graph call and the region that resumes it. It tells why Dynamo
// broke the graph, as far as a trace shows, and which of the time there is no cost of the break.
#pragma once

#include <cstdint>
#include <string>

#include "base/interval_set.h"
#include "model/model.h"

namespace ridge {

struct BreakEvidence {
  std::string reason;    // empty when the trace shows none
  IntervalSet left_out;  // eager ops that do not wait, compilation, other compiled code: not the break's
};

// From `from_ns` to the start of the resumed region, on its thread.
BreakEvidence evidence_at_break(const Model& model, std::int64_t from_ns, NodeId region);
// To that of the next one which `frame`, a function that runs eager, calls. What else it calls or computes there is no reason.
BreakEvidence evidence_in_eager_frame(const Model& model, std::int64_t from_ns, NodeId next, NodeId frame);
// The same of any stretch that ends where `next` starts, on the thread of `next`: no reason is looked for.
IntervalSet left_out_before(const Model& model, std::int64_t from_ns, NodeId next);

}  // namespace ridge
