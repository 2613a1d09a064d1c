// Graph breaks and recompiles as marks of the timeline: an analysis knows them, and the timeline may not ask one.
#pragma once

#include <memory>
#include <vector>

#include <ridge/timeline.h>

#include "cost/cost_model.h"
#include "model/model.h"

namespace ridge {

std::vector<Mark> break_marks(const Model& model, std::shared_ptr<const CostModel> costs);

}  // namespace ridge
