// One table of costs a thread, asked once a node.
#include "predict/recorder_share.h"

#include <algorithm>

#include "model/recorder_cost.h"

namespace ridge {

void add_recorder_share(const Model& model, StepGraph* graph) {
  graph->recorder_ns.assign(graph->first_device, 0);
  std::vector<bool> threads(model.tree().threads.size());
  for (const StepLane& lane : graph->lanes) {
    if (lane.device) break;
    threads[lane.thread] = true;
    const RecorderCost cost(model.trace(), model.tree(), threads);
    threads[lane.thread] = false;
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (graph->kind[node] == StepKind::wait) continue;
      const std::int64_t end = graph->start_ns[node] + graph->duration_ns[node];
      graph->recorder_ns[node] = std::min(graph->duration_ns[node], cost.between(graph->start_ns[node], end));
    }
  }
}

}  // namespace ridge
