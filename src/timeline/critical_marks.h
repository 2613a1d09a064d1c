// The critical path as marks of the timeline: on which lane it runs, from when to when.
#pragma once

#include <memory>
#include <vector>

#include <ridge/timeline.h>

#include "cost/cost_model.h"

namespace ridge {

// Pieces of one lane that follow each other are one mark. Their times count from the start of the trace's window.
std::vector<Mark> critical_marks(std::shared_ptr<const CostModel> costs);

}  // namespace ridge
