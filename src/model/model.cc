// One Once per table, and what each is built from.
#include "model/model.h"

#include <atomic>

#include "base/in_parallel.h"
#include "base/stop.h"
#include "model/iteration_spans.h"
#include "model/once.h"
#include "model/retained.h"
#include "model/table_bytes.h"

namespace ridge {
namespace {

// The table, made unless nobody waits for it any more: then the next one who asks makes it.
template <class T, class Make>
const T& made(Once<T>& once, const Make& make) {
  return once.get([&] {
    Stop::look();
    return make();
  });
}

}  // namespace

struct Model::Tables {
  Once<CallTree> tree;
  Retained<NodeOfEvent> node_of;
  Once<LaunchLinks> links;
  Once<HostStalls> host_stalls;
  Once<KernelIdentities> identities;
  Once<DeviceTimeline> timeline;
  Once<Iterations> iterations;
  Once<Autotuning> autotuning;
  Once<CompilePhases> compile_phases;
  Once<ForwardBackward> forward_backward;
  Once<CompiledRegions> compiled_regions;
  Once<CompilerWork> compiler_work;
  Once<GraphReplays> graph_replays;
  Once<Locations> locations;
  Once<RecorderCosts> recorder_costs;

  // Links, iterations, and what is forward and backward.
  std::atomic<int> need_node_of = 3;
  // Of each of these, once it is made.
  void done_with_node_of() {
    if (--need_node_of == 0) node_of.let_go();
  }

  // Calls see(table) for each.
  template <class See>
  void each(See see) const {
    see(tree), see(links), see(host_stalls), see(identities), see(timeline), see(iterations);
    see(autotuning), see(compile_phases), see(forward_backward), see(compiled_regions), see(compiler_work);
    see(graph_replays), see(locations), see(recorder_costs);
  }
};

Model::Model(const Trace& trace, std::int64_t runs) : trace_(trace), runs_(runs), tables_(std::make_unique<Tables>()) {}
Model::~Model() = default;

const CallTree& Model::tree() const {
  return made(tables_->tree, [&] { return build_call_tree(trace_); });
}
std::shared_ptr<const NodeOfEvent> Model::node_of() const {
  return tables_->node_of.get([&] {
    Stop::look();
    return NodeOfEvent(trace_, tree());
  });
}
const LaunchLinks& Model::links() const {
  return made(tables_->links, [&] {
    std::vector<EventId> launches;
    alongside({trace_.events.size()}, [&] { node_of(); }, [&] { launches = find_launches(trace_); });
    LaunchLinks found = build_launch_links(trace_, tree(), *node_of(), launches);
    tables_->done_with_node_of();
    return found;
  });
}
const HostStalls& Model::host_stalls() const {
  return made(tables_->host_stalls, [&] { return find_host_stalls(trace_, tree(), links()); });
}
const KernelIdentities& Model::identities() const {
  return made(tables_->identities, [&] { return build_kernel_identities(trace_, tree(), links(), graph_replays()); });
}
const DeviceTimeline& Model::timeline() const {
  return made(tables_->timeline, [&] { return build_device_timeline(trace_, identities()); });
}
const Iterations& Model::iterations() const {
  const auto when_needed = [this]() -> const DeviceTimeline& { return timeline(); };
  return made(tables_->iterations, [&] {
    Iterations found = build_iterations(trace_, tree(), *node_of(), links(), when_needed, runs_);
    add_spans(trace_, tree(), links(), &found);
    tables_->done_with_node_of();
    return found;
  });
}
const Autotuning& Model::autotuning() const {
  return made(tables_->autotuning, [&] { return build_autotuning(trace_, tree(), links()); });
}
const CompilePhases& Model::compile_phases() const {
  return made(tables_->compile_phases, [&] { return build_compile_phases(trace_, tree()); });
}
const ForwardBackward& Model::forward_backward() const {
  return made(tables_->forward_backward, [&] {
    ForwardBackward found = build_forward_backward(trace_, tree(), *node_of());
    tables_->done_with_node_of();
    return found;
  });
}
const CompiledRegions& Model::compiled_regions() const {
  return made(tables_->compiled_regions, [&] {
    return build_compiled_regions(trace_, tree(), compile_phases(),
                                  [this]() -> const ForwardBackward& { return forward_backward(); });
  });
}
const CompilerWork& Model::compiler_work() const {
  return made(tables_->compiler_work, [&] {
    if (autotuning().node.empty() && compile_phases().empty()) return CompilerWork{};
    return build_compiler_work(tree(), links(), autotuning(), compile_phases(), compiled_regions());
  });
}
const GraphReplays& Model::graph_replays() const {
  return made(tables_->graph_replays, [&] { return build_graph_replays(trace_, tree(), links()); });
}

const Locations& Model::locations() const {
  return made(tables_->locations, [&] { return Locations(trace_, tree(), forward_backward()); });
}

const RecorderCosts& Model::recorder_costs() const {
  return made(tables_->recorder_costs, [&] { return build_recorder_costs(trace_, tree()); });
}

std::uint64_t Model::memory_bytes() const {
  std::uint64_t bytes = sizeof(Tables);
  tables_->each([&](const auto& once) {
    if (const auto* table = once.if_made()) bytes += heap_bytes(*table);
  });
  if (const auto nodes = tables_->node_of.if_held()) bytes += heap_bytes(*nodes);
  return bytes;
}

}  // namespace ridge
