// StepGraph: what a recorded program did, as work that had to wait for other work. Replayed with the recorded times
// (replay.h) it gives the recorded step; with changed times, another.
//
// Nodes stand in lanes, each lane in order of time: host threads first, then streams.
//  - host: a thread's own work between two calls that matter here, and what a slow call does before it launches; launch: a call
//    that puts work on a device;
//    wait: the thread waits for a device or for another thread. A thread's nodes follow each other without gaps.
//  - kernel, copy, comm: work of a stream.
// A node waits for the one before it in its lane, and for its edges. An edge is passed `lag_ns` after its source: a call that
// launches at its start, anything else at its end. A wait ends when its edges are passed and its own duration is over; any
// other node starts when its edges are passed and takes its duration.
//
// Invariants:
//  1. `order` holds each node once, behind the node before it in its lane and behind the sources of its edges: no cycle.
//  2. With the recorded durations every node starts and ends as recorded, unless clocks contradict each other.
//  3. Columns grow with the calls that launch or wait and with device work, never faster.
//
// What the trace does not record is inferred from what was observed, and counted in `evidence`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bulk_vector.h"
#include "model/model.h"

namespace ridge {

enum class StepKind : std::uint8_t { host, launch, wait, kernel, copy, comm };

constexpr bool is_host(StepKind kind) { return kind <= StepKind::wait; }

struct StepLane {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool device = false;
  std::uint32_t thread = 0;    // of a host lane: index into tree.threads
  std::int64_t device_id = 0;  // of a stream
  std::int64_t stream = 0;
};

// What the edges rest on.
struct StepEvidence {
  std::int64_t host_waits = 0;         // calls that wait for a device, with the work they waited for
  std::int64_t unexplained_waits = 0;  // such calls whose work is not known: they take what they took
  std::int64_t recorded_stream_waits = 0;
  std::int64_t inferred_stream_waits = 0;  // from the order in which work ran
  std::int64_t thread_handovers = 0;       // a thread waited while another ran, as for autograd
  std::int64_t inferred_wakes = 0;         // of threads that launch, by whom is not known: the main thread
  std::int64_t unlinked_work = 0;          // device work without a launch: it follows its stream
  std::int64_t contradictions = 0;         // edges left out because the clocks say that the effect came first
};

struct StepGraph {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<StepLane> lanes;
  std::uint32_t first_device = kNone;  // the first node of a stream
  std::uint32_t main_lane = kNone;     // the thread that iterations are marked on; kNone without host threads

  // By node.
  BulkVector<std::int64_t> start_ns;     // as recorded
  BulkVector<std::int64_t> duration_ns;  // by itself: what a wait takes when there is nothing to wait for
  BulkVector<std::uint32_t> source;      // host: the call in the tree, kNone between calls; else row of trace.of(device_work)
  BulkVector<StepKind> kind;
  std::vector<bool> leads;               // the first of its lane
  BulkVector<std::uint32_t> first_edge;  // its edges: [first_edge[n], first_edge[n + 1])
  BulkVector<std::uint32_t> order;

  BulkVector<std::uint32_t> edge_from;
  BulkVector<std::int64_t> edge_lag_ns;

  // By node from first_device: from the end of the work before it in its stream to its start, where that is what it waits for.
  BulkVector<std::int64_t> gap_ns;

  // What the recorder added to each host node; empty: not told (recorder_share.h).
  BulkVector<std::int64_t> recorder_ns;

  StepEvidence evidence;
  std::int64_t launch_latency_ns = 0;  // typical, from the start of a call to that of its work, with an empty queue
  std::int64_t stream_gap_ns = 0;      // typical, between two pieces of work that were queued

  std::size_t size() const { return start_ns.size(); }
  bool is_device(std::uint32_t node) const { return node >= first_device; }
  const StepLane& lane_of(std::uint32_t node) const;
  // Of a wait: when it ended, as recorded. Host lanes have no gaps, so that is where the next node starts.
  std::int64_t recorded_end_ns(std::uint32_t node) const;
  // When an edge from it can be passed, as recorded and without its lag.
  std::int64_t passed_ns(std::uint32_t node) const {
    return kind[node] == StepKind::launch ? start_ns[node] : recorded_end_ns(node);
  }
  // The first node of a launch: what a slow one does before it issues its work is a node of its own.
  std::uint32_t begin_of_call(std::uint32_t launch) const;
  // The node of a lane at a time: the last that starts no later; kNone before the first.
  std::uint32_t node_at(const StepLane& lane, std::int64_t time_ns) const;
  void fit();  // all nodes are there: the columns that grew with them give back their spare room
  std::uint64_t heap_bytes() const;
};

StepGraph build_step_graph(const Model& model);

}  // namespace ridge
