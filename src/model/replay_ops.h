// The ops of a replayed graph's nodes, found where a trace shows the same launches outside of a replay: an eager run of the
// same kernels, or the capture of the graph. The trace is the replay's own, or another one that recorded the capture.
//
// Every run and every capture that may be it is aligned with the graph (model/graph_alignment.h); those that fit best count.
// Where several fit equally well they must agree on an op (its name and shapes), or it stays unknown: unless one of them was
// captured for the batch size that the replay's annotation names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/call_tree.h"
#include "model/graph_replays.h"
#include "model/launch_links.h"
#include "model/launch_sequence.h"
#include "trace/trace.h"

namespace ridge {

struct FoundOps {
  OpSource source = OpSource::none;   // none: nothing fits
  std::vector<NodeId> launches, ops;  // of each node, in the tree that was searched; kNoNode: not known
  std::size_t matched = 0;            // nodes whose launch was found
  std::size_t disputed = 0;           // of these, those whose op the best captures disagree about
  std::string name;                   // of the run or capture: "capture_32_DECODE", "capture 3 of 67", "eager run"
};

// How much of a graph has to be found. A trace that was given as the capture of another need not show all of it; in a trace
// that only happens to hold similar work, next to all.
enum class Trust : std::uint8_t { coincidence, given };

class OpFinder {
 public:
  OpFinder(const Trace& trace, const CallTree& tree, const LaunchLinks& links, Trust trust);
  ~OpFinder();
  OpFinder(const OpFinder&) = delete;
  OpFinder& operator=(const OpFinder&) = delete;

  // `batch`: the number that the annotation around the replay names, as batch_of() reads it.
  // `told_apart`: the trace numbers its graphs, so that a sequence of plain kernels is one graph's.
  FoundOps find(std::span<const LaunchSign> nodes, bool told_apart, std::optional<std::int64_t> batch) const;

  std::size_t captures() const;    // that the trace holds
  std::uint64_t launches() const;  // in them and in eager runs

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The first number in the innermost annotation of the user's that has one: "step[DECODE bs=32]", "capture_32_FULL".
std::optional<std::int64_t> batch_of(const Trace& trace, const CallTree& tree, NodeId node);

// From the trace itself.
void recover_ops(const Trace& trace, const CallTree& tree, const LaunchLinks& links, GraphReplays* replays);

}  // namespace ridge
