// BorrowedCalls: what the trace of a replayed graph has from the trace of its capture: the launch calls that became the graph's
// nodes, and the ops, annotations and Python frames around them; of some ops what they allocate.
//
// 1. Their events stand in the trace's table behind its own (from Trace::recorded_events on), with their arguments, at the
//    capture's times and on the track of the call that replays the graph.
// 2. No list of a class holds them and the window knows nothing of them: they happened elsewhere, and whatever counts or sums
//    up what this trace recorded must not see them. They tell which op, shapes and line a replayed kernel comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace ridge {

struct BorrowedCalls {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Node {
    EventId event;
    std::uint32_t parent = kNone;  // index into nodes
  };
  struct Loan {
    EventId work;                  // the replayed kernel, copy or set
    std::uint32_t launch = kNone;  // index into nodes
    std::uint32_t op = kNone;      // index into nodes; kNone when the capture shows no op around the launch
    std::uint32_t source = 0;      // index into sources
  };

  std::vector<Node> nodes;           // a parent before its children
  std::vector<Loan> loans;           // in order of work
  std::vector<std::string> sources;  // the captures that were taken: "capture_32_DECODE", "capture 3 of 67", "eager run"
  std::uint32_t first_event = 0;     // the first borrowed one

  // How well the capture fits, over all replays in the trace.
  std::string path;            // of the capture
  std::string damage;          // what is wrong with that file itself; empty: nothing
  std::uint64_t graphs = 0;    // that the trace replays
  std::uint64_t replayed = 0;  // kernels, copies and sets that graphs replayed
  std::uint64_t matched = 0;   // of these, those whose launch the capture shows
  std::uint64_t disputed = 0;  // of these, those whose op cannot be told, since several captures fit equally well and disagree
  std::uint64_t own = 0;       // of these, those that the trace itself tells better
  std::uint64_t captured = 0;  // graphs that the capture's trace records
  std::uint64_t launched = 0;  // launches in them, and kernels that ran one by one
};

}  // namespace ridge
