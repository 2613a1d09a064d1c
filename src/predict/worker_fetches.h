// Where a program takes batches from worker processes of a data loader, and unpacks them itself. How fast the workers are, a
// trace of the program does not tell: a host that is slow for being recorded asks for batches later, and finds them ready.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "predict/step_graph.h"

namespace ridge {

// The call that a stall by the loader is of, where that has worker processes.
bool has_workers(const Model& model, NodeId stall);

// Host nodes of the graph, ascending, in which a batch is taken that workers made. One that waits in memory already
// (pin_memory's thread unpacks it) takes no time and is none.
std::vector<std::uint32_t> worker_fetches(const Model& model, const StepGraph& graph);

}  // namespace ridge
