// LaunchSequence: what a thread launched, in order, with all that the trace tells of each launch. The nodes of a replayed graph
// are held against such sequences: of an eager run of the same kernels, or of the capture of the graph.
//
// Of a run the kernels themselves tell names and grids. A capture has launch calls and no kernels: on ROCm the call names its
// kernel, on CUDA only the op around it may (Triton's have their kernel's name).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/call_tree.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

enum class NodeKind : std::uint8_t {
  kernel,
  matrix,        // computes a product or a convolution; of a capture: launched by such an op
  triton,        // named by its op
  short_triton,  // "triton_", the name of any generated kernel where unique names are off
  copy,
  set,
};

// What launches of two traces are compared by: texts as hashes, 0 where nothing is told.
struct LaunchSign {
  std::uint64_t name = 0;
  std::uint64_t grid = 0;
  NodeKind kind = NodeKind::kernel;

  bool operator==(const LaunchSign&) const = default;
};

struct LaunchItem {
  LaunchSign sign;
  NodeId launch = kNoNode;
  NodeId op = kNoNode;
  std::uint64_t call = 0;  // the op's name and shapes; 0: no op
};

struct LaunchSequence {
  std::vector<LaunchItem> items;
  bool ran = false;  // else a capture
};

// The nodes of a graph, from their names and grids.
std::vector<LaunchSign> signs_of(const Trace& trace, std::span<const StringId> names, std::span<const StringId> grids);

// What each thread launched one by one and ran, graph launches left out.
std::vector<LaunchSequence> eager_runs(const Trace& trace, const CallTree& tree, const LaunchLinks& links);
// What each thread launched between Begin and EndCapture, one sequence per capture, in order.
std::vector<LaunchSequence> captures(const Trace& trace, const CallTree& tree);

}  // namespace ridge
