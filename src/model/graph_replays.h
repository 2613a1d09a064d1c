// GraphReplays: CUDA and HIP graphs. All work of one replay stands under one launch call; what launched each node is lost.
//
// Replays with the same sequence of node names and grids (and the same graph id, where the trace gives one) are replays of one
// graph. The op of a node is recovered where the trace also holds the capture of the graph, or an eager run of the same
// kernels, and marked as such: in `recovered`, never in LaunchLinks, which hold what the trace itself says. Where several runs
// of the same kernels disagree about an op, it stays unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

struct GraphReplay {
  NodeId launch;            // cudaGraphLaunch, hipGraphLaunch, ...
  std::uint32_t graph = 0;  // index into GraphReplays::graphs
  std::uint32_t first = 0;  // its device work: rows[first, first + nodes of the graph), in the graph's order
};

enum class OpSource : std::uint8_t {
  none,
  eager_run,     // of this trace
  capture,       // in this trace
  capture_file,  // another trace, given as the capture of this one
};
std::string_view name_of(OpSource source);

struct ReplayedGraph {
  std::optional<std::int64_t> id;  // as the trace says
  std::vector<StringId> nodes;     // names, in order
  std::vector<StringId> grids;     // of each node; none where the trace does not tell
  std::vector<NodeId> ops;         // of each node, recovered; empty when nothing was
  std::vector<NodeId> launches;    // the launch call of each node, outside of the replay; as many as ops
  OpSource source = OpSource::none;
  std::string from;  // which run or capture: "capture_32_DECODE"
  std::int64_t replays = 0;
};

// The op of device work, where a replay hid it and it was recovered, and the call that launched it then.
struct RecoveredOp {
  NodeId op = kNoNode;
  NodeId launch = kNoNode;  // may be known where no op is
  OpSource source = OpSource::none;
};

struct GraphReplays {
  std::vector<ReplayedGraph> graphs;   // in order of first replay
  std::vector<GraphReplay> replays;    // in tree order of their launches
  std::vector<std::uint32_t> rows;     // of trace.of(EventClass::device_work)
  std::vector<RecoveredOp> recovered;  // by row of device work; empty when nothing was

  RecoveredOp recovered_op(std::size_t row) const { return recovered.empty() ? RecoveredOp{} : recovered[row]; }

  std::span<const std::uint32_t> rows_of(const GraphReplay& replay) const {
    return std::span(rows).subspan(replay.first, graphs[replay.graph].nodes.size());
  }
};

bool is_graph_launch(std::string_view call);
// Whether a runtime or driver call of that name puts work on a device: a launch of any sort, a copy, a set.
bool starts_work(std::string_view call);

GraphReplays build_graph_replays(const Trace& trace, const CallTree& tree, const LaunchLinks& links);

}  // namespace ridge
