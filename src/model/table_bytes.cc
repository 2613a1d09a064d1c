// The columns of each table, added up.
#include "model/table_bytes.h"

namespace ridge {
namespace {

std::uint64_t heap_bytes(const KernelIdentity& identity) { return ridge::heap_bytes(identity.label, identity.fused_ops); }
std::uint64_t heap_bytes(const Device& device) { return ridge::heap_bytes(device.work); }
std::uint64_t heap_bytes(const ReplayedGraph& graph) {
  return ridge::heap_bytes(graph.nodes, graph.grids, graph.ops, graph.launches);
}

// Of values that have an overload here.
template <class T>
std::uint64_t with_contents(const std::vector<T>& values) {
  std::uint64_t bytes = values.capacity() * sizeof(T);
  for (const T& value : values) bytes += heap_bytes(value);
  return bytes;
}

}  // namespace

std::uint64_t heap_bytes(const CallTree& t) {
  return heap_bytes(t.threads, t.event, t.parent, t.start_ns, t.end_ns, t.event_class, t.op, t.rungs);
}
std::uint64_t heap_bytes(const LaunchLinks& links) { return heap_bytes(links.launch, links.op, links.inherited); }
std::uint64_t heap_bytes(const HostStalls& stalls) { return heap_bytes(stalls.of_thread); }
std::uint64_t heap_bytes(const KernelIdentities& identities) {
  return heap_bytes(identities.of_row) + with_contents(identities.identities);
}
std::uint64_t heap_bytes(const DeviceTimeline& timeline) { return with_contents(timeline.devices); }
std::uint64_t heap_bytes(const Iterations& iterations) {
  std::uint64_t bytes = heap_bytes(iterations.list);
  for (const auto& [process, marks] : iterations.elsewhere) bytes += sizeof process + heap_bytes(marks);
  return bytes;
}
std::uint64_t heap_bytes(const Autotuning& tuning) { return heap_bytes(tuning.spans, tuning.work, tuning.node); }
std::uint64_t heap_bytes(const CompilePhases& phases) { return heap_bytes(phases.phases, phases.of_thread); }
std::uint64_t heap_bytes(const ForwardBackward& links) { return heap_bytes(links.links); }
std::uint64_t heap_bytes(const CompiledRegions& regions) {
  return heap_bytes(regions.calls, regions.stretches, regions.lookups);
}
std::uint64_t heap_bytes(const CompilerWork& work) { return heap_bytes(work.node, work.work); }
std::uint64_t heap_bytes(const GraphReplays& replays) {
  return with_contents(replays.graphs) + heap_bytes(replays.replays, replays.rows, replays.recovered);
}

std::uint64_t heap_bytes(const RecorderCosts& costs) {
  std::uint64_t bytes = costs.of_thread.capacity() * sizeof(RecorderCost);
  for (const RecorderCost& cost : costs.of_thread) bytes += cost.heap_bytes();
  return bytes;
}

}  // namespace ridge
