// CallTree: what each host thread did, as a tree: python frames, annotations, ops, runtime and driver calls nested by time.
//
// Invariants:
//  1. A node stands behind its parent, so that a sum over subtrees is one pass from the back.
//  2. The nodes of a thread stand together, in order of start.
//  3. A child lies inside its parent. Slices that overlap without nesting are counted in `overlaps`, and none is dropped: a
//  python frame ends
//     with what is around it, others hang under the innermost node that holds both ends.
//  4. Behind the nodes of all threads stand those that were borrowed from a capture (trace/borrowed_calls.h): they tell whose
//     work a replayed kernel is and are part of no thread. What asks what this trace's host did stops at `recorded`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bulk_vector.h"
#include "base/ids.h"
#include "trace/trace.h"

namespace ridge {

using NodeId = Id<struct NodeTag>;  // a slice of a host thread, in tree order

inline constexpr NodeId kNoNode{UINT32_MAX};
inline constexpr EventId kNoEvent{UINT32_MAX};

struct HostThread {
  TrackId track;
  std::uint32_t first = 0;  // its nodes: [first, first + count)
  std::uint32_t count = 0;
};

struct CallTree {
  std::vector<HostThread> threads;  // in order of track
  BulkVector<EventId> event;        // of each node
  BulkVector<NodeId> parent;        // kNoNode for a root
  BulkVector<std::int64_t> start_ns;
  BulkVector<std::int64_t> end_ns;
  BulkVector<EventClass> event_class;
  BulkVector<NodeId> op;  // the innermost op at or around each node; kNoNode when there is none
  std::int64_t overlaps = 0;
  std::uint32_t recorded = 0;  // the nodes of this trace itself: ids below this

  // A short cut up a deep stack: from some of the nodes to one far above.
  struct Rung {
    std::uint32_t node = 0;
    std::uint32_t above = 0;
  };
  std::vector<Rung> rungs;  // in order of node

  std::size_t size() const { return event.size(); }  // of all nodes, borrowed ones too
  EventClass class_of(NodeId n) const { return event_class[n.value]; }
  std::int64_t duration_ns(NodeId n) const { return end_ns[n.value] - start_ns[n.value]; }

  NodeId op_of(NodeId n) const { return n == kNoNode ? kNoNode : op[n.value]; }
  // The innermost op around an op; kNoNode when there is none.
  NodeId op_above(NodeId n) const { return op_of(parent[n.value]); }
  // The innermost node of a thread that holds `time_ns`; kNoNode when none does. Logarithmic, then up the parents, a deep stack
  // by its rungs.
  NodeId innermost_at(const HostThread& thread, std::int64_t time_ns) const;
  const HostThread* thread_of(TrackId track) const;  // nullptr when the track has no slices
  const Rung* rung_at(NodeId n) const;               // nullptr when there is none
};

CallTree build_call_tree(const Trace& trace);

// The thread of a node, as an index into tree.threads.
std::size_t thread_of(const CallTree& tree, NodeId node);

// The node of each event that has one.
class NodeOfEvent {
 public:
  NodeOfEvent(const Trace& trace, const CallTree& tree);
  NodeId operator[](EventId event) const { return NodeId{node_[event.value]}; }
  std::uint64_t heap_bytes() const { return node_.capacity() * sizeof(std::uint32_t); }

 private:
  BulkVector<std::uint32_t> node_;
};

// The node of one event of this trace; kNoNode when it has none. Searched for: who asks for many has NodeOfEvent.
NodeId find_node(const Trace& trace, const CallTree& tree, EventId event);

}  // namespace ridge
