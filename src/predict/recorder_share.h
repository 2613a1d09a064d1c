// What the recorder added to each host node of a StepGraph: the prices of the events that start in it (model/recorder_cost.h).
#pragma once

#include "model/model.h"
#include "predict/step_graph.h"

namespace ridge {

// Fills recorder_ns, never more than a node takes. Waits have none: they end when what they wait for does.
void add_recorder_share(const Model& model, StepGraph* graph);

}  // namespace ridge
