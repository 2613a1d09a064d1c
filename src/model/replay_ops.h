// The ops of a replayed graph's nodes, recovered from elsewhere in the trace: an eager run of the same kernels, else the
// capture of the graph.
//
// An eager run fits when its kernels have the nodes' names in their order, on the same grids. A capture has launch calls and no
// kernels: it fits when it has as many launches as the graph has nodes, each of the node's sort, and enough of them say more
// than that. Several that fit must agree on an op (its name and shapes), or it stays unknown.
#pragma once

#include <span>

#include "model/graph_replays.h"

namespace ridge {

void recover_ops(const Trace& trace, const CallTree& tree, const LaunchLinks& links, std::span<ReplayedGraph> graphs);

}  // namespace ridge
