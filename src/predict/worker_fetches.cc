// Stalls of the loader, by the names around and in them.
#include "predict/worker_fetches.h"

#include <algorithm>
#include <string_view>

namespace ridge {
namespace {

constexpr std::string_view kOfWorkers = "MultiProcessing";  // enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__
constexpr std::uint32_t kLookedAt = 16;                     // slices inside of a stall: the mark stands right behind its frame
// Unpacking a batch takes 0.3 ms a tensor and more; taking one that is unpacked 0.03 to 0.16.
constexpr std::int64_t kUnpackedNs = 250'000;

}  // namespace

bool has_workers(const Model& model, NodeId stall) {
  const CallTree& tree = model.tree();
  if (stall == kNoNode || stall.value >= tree.recorded) return false;
  for (std::uint32_t n = stall.value; n < std::min(stall.value + kLookedAt, tree.recorded); ++n) {
    if (tree.start_ns[n] >= tree.end_ns[stall.value] && n > stall.value) break;
    if (model.trace().text(model.trace().events.name(tree.event[n])).find(kOfWorkers) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<std::uint32_t> worker_fetches(const Model& model, const StepGraph& graph) {
  std::vector<std::uint32_t> out;
  for (const StepLane& lane : graph.lanes) {
    if (lane.device) break;
    std::uint32_t behind_waits = lane.first;  // of the stall before: several may lie in one run of waits
    for (const HostStall& stall : model.host_stalls().of_thread[lane.thread]) {
      if (stall.cause != IdleCause::dataloader || stall.end_ns - stall.start_ns < kUnpackedNs ||
          !has_workers(model, stall.node))
        continue;
      std::uint32_t node = graph.node_at(lane, stall.start_ns);
      if (node == StepGraph::kNone) node = lane.first;
      if (graph.kind[node] == StepKind::wait) node = std::max(node, behind_waits);
      while (graph.kind[node] == StepKind::wait && node + 1 < lane.first + lane.count) ++node;
      behind_waits = node;
      out.push_back(node);
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace ridge
