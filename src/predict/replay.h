// Replay: when every node of a StepGraph starts and ends, given what each takes. One pass over the graph's order.
#pragma once

#include <cstdint>

#include "base/bulk_vector.h"
#include "predict/step_graph.h"

namespace ridge {

inline constexpr std::int64_t kNoWait = INT64_MIN / 4;  // the lag of an edge that is not waited for

// From a launch to its work with an empty queue. Where it took longer the device was late for a reason that the trace does not
// tell: it does not begin to be late before it is done with the work before. So late was a node behind that, by the lag of its
// launch; of what ran beside other work nothing.
inline constexpr std::int64_t kLongestLatencyNs = 100'000;
std::int64_t late_ns(const StepGraph& graph, std::uint32_t node, std::int64_t lag_ns);

// What a change may touch: a copy of the graph's times.
struct StepTimes {
  explicit StepTimes(const StepGraph& graph)
      : duration_ns(graph.duration_ns), gap_ns(graph.gap_ns), edge_lag_ns(graph.edge_lag_ns) {}

  BulkVector<std::int64_t> duration_ns;  // by node
  BulkVector<std::int64_t> gap_ns;       // by node from first_device
  BulkVector<std::int64_t> edge_lag_ns;  // by edge
};

struct Replayed {
  BulkVector<std::int64_t> start_ns, end_ns;  // by node
};

Replayed replay(const StepGraph& graph);  // as recorded
Replayed replay(const StepGraph& graph, const StepTimes& times);

}  // namespace ridge
