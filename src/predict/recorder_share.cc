// The costs of each thread, asked once a node.
#include "predict/recorder_share.h"

#include <algorithm>

namespace ridge {

void add_recorder_share(const Model& model, StepGraph* graph) {
  graph->recorder_ns.assign(graph->first_device, 0);
  for (const StepLane& lane : graph->lanes) {
    if (lane.device) break;
    const RecorderCost& cost = model.recorder_costs().of_thread[lane.thread];
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (graph->kind[node] == StepKind::wait) continue;
      const std::int64_t end = graph->start_ns[node] + graph->duration_ns[node];
      graph->recorder_ns[node] = std::min(graph->duration_ns[node], cost.between(graph->start_ns[node], end));
    }
  }
}

}  // namespace ridge
