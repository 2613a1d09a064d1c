// What stands at a graph break: the work between a frame's last graph call and the region that resumes it. It tells why Dynamo
// broke the graph, as far as a trace shows, and which of the time there is no cost of the break.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace ridge {

struct BreakEvidence {
  std::string reason;       // empty when the trace shows none
  std::int64_t own_ns = 0;  // of eager ops that do not wait, compilation and other regions: not the break's
};

// From `from_ns` to the start of the resumed region, on its thread (index into tree().threads).
BreakEvidence evidence_at_break(const Model& model, std::size_t thread, std::int64_t from_ns, NodeId region);

}  // namespace ridge
