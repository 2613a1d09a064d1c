// Graph breaks and recompiles as marks of the timeline, from the facts that every question about them shares.
#pragma once

#include <memory>
#include <vector>

#include <ridge/timeline.h>

#include "cost/cost_model.h"

namespace ridge {

// Their times count from the start of the trace's window.
std::vector<Mark> break_marks(std::shared_ptr<const CostModel> costs);

}  // namespace ridge
