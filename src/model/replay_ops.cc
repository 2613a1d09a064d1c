// Looks for the graph's sequence at its rarest kernel name; captures are compared launch by launch. Bounded against hostile
// traces.
#include "model/replay_ops.h"

#include <algorithm>
#include <unordered_map>

#include "model/kernel_identity.h"
#include "model/name_flags.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// Runs and captures of one graph that are compared with each other, and captures that are looked at: a bound on what a hostile
// trace may cost.
constexpr std::size_t kMostCompared = 64, kMostTried = 1024;

// Takes the ops of one that fits, or keeps those of earlier ones that it agrees with.
class OpMerge {
 public:
  OpMerge(const Trace& trace, const CallTree& tree) : trace_(trace), tree_(tree), dims_(ops(trace).input_dims) {}

  void add(std::span<const NodeId> found) {
    if (++fits_ == 1) {
      ops_.assign(found.begin(), found.end());
      return;
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i] == kNoNode || found[i] == kNoNode || !is_same_call(ops_[i], found[i])) ops_[i] = kNoNode;
    }
  }
  bool full() const { return fits_ == kMostCompared; }

  bool give(OpSource source, ReplayedGraph* graph) {
    if (std::all_of(ops_.begin(), ops_.end(), [](NodeId op) { return op == kNoNode; })) return false;
    graph->ops = std::move(ops_);
    graph->source = source;
    return true;
  }

 private:
  bool is_same_call(NodeId a, NodeId b) const {
    const EventId x = tree_.event[a.value], y = tree_.event[b.value];
    return trace_.events.name(x) == trace_.events.name(y) && dims_.text(x) == dims_.text(y);
  }

  const Trace& trace_;
  const CallTree& tree_;
  ArgColumn dims_;
  std::vector<NodeId> ops_;
  std::size_t fits_ = 0;
};

// ---- eager runs
// -----------------------------------------------------------------------------------------------------------------

// Work launched one by one, in order of launch, where a graph's sequence may be found again.
struct EagerRun {
  std::vector<StringId> names, grids;
  std::vector<NodeId> ops;
  std::vector<std::uint32_t> thread;
  std::unordered_map<StringId, std::vector<std::uint32_t>> places;  // of each name
};

EagerRun eager_work(const Trace& trace, const CallTree& tree, const LaunchLinks& links, const NameFlags& launches) {
  const DeviceWorkTable table = device_work(trace);
  const auto& work = trace.of(EventClass::device_work);
  std::vector<std::pair<NodeId, std::uint32_t>> order;
  for (std::uint32_t row = 0; row < work.size(); ++row) {
    const NodeId launch = links.launch[row];
    if (launch != kNoNode && !launches[trace.events.name(tree.event[launch.value])]) order.emplace_back(launch, row);
  }
  std::sort(order.begin(), order.end());
  EagerRun run;
  for (const auto& [launch, row] : order) {
    run.places[trace.events.name(work[row])].push_back(static_cast<std::uint32_t>(run.names.size()));
    run.names.push_back(trace.events.name(work[row]));
    run.grids.push_back(table.grid.text(work[row]).value_or(StringId{}));
    run.ops.push_back(links.op[row]);
    run.thread.push_back(trace.track(tree.event[launch.value]).value);
  }
  return run;
}

bool is_at(const EagerRun& run, const ReplayedGraph& graph, std::size_t first) {
  const std::size_t last = first + graph.nodes.size() - 1;
  if (last >= run.names.size() || run.thread[first] != run.thread[last]) return false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i] != run.names[first + i]) return false;
    const StringId grid = graph.grids[i], ran = run.grids[first + i];
    if (grid != StringId{} && ran != StringId{} && grid != ran) return false;  // the same kernel on another shape
  }
  return true;
}

// Looks for the sequence at the places of its rarest name; a name that never ran eager ends the search at once.
bool recover_from(const Trace& trace, const CallTree& tree, const EagerRun& run, ReplayedGraph* graph) {
  // One name alone says nothing about who launched it; `triton_` is the name of any generated kernel where unique names are
  // off.
  const auto telling =
      std::count_if(graph->nodes.begin(), graph->nodes.end(), [&](StringId name) { return trace.text(name) != "triton_"; });
  if (telling < 2) return false;
  const std::vector<std::uint32_t>* places = nullptr;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    const auto it = run.places.find(graph->nodes[i]);
    if (it == run.places.end()) return false;
    if (places == nullptr || it->second.size() < places->size()) {
      places = &it->second;
      offset = i;
    }
  }
  OpMerge merge(trace, tree);
  for (const std::uint32_t place : *places) {
    if (place < offset || !is_at(run, *graph, place - offset)) continue;
    merge.add(std::span(run.ops).subspan(place - offset, graph->nodes.size()));
    if (merge.full()) break;
  }
  return merge.give(OpSource::eager_run, graph);
}

// ---- captures
// -------------------------------------------------------------------------------------------------------------------

// Products, copies and sets that stand where the capture has them, in a graph that has other kernels too.
constexpr std::size_t kLeastAlike = 3;

// A capture: the launch calls between Begin and EndCapture of a thread start nothing on the device, but become the graph's
// nodes in order.
struct Capture {
  std::vector<NodeId> launches;
};

std::vector<Capture> captures(const Trace& trace, const CallTree& tree) {
  const NameFlags names(trace, [](std::string_view name) {
    return name.ends_with("StreamBeginCapture") || name.ends_with("StreamEndCapture") || starts_work(name);
  });
  std::vector<Capture> found;
  for (const HostThread& thread : tree.threads) {
    bool open = false;
    Capture capture;
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      if (tree.event_class[n] != EventClass::launch) continue;
      const StringId id = trace.events.name(tree.event[n]);
      if (!names[id]) continue;
      const std::string_view name = trace.text(id);
      if (name.ends_with("StreamBeginCapture")) {
        open = true;
        capture = {};
      } else if (name.ends_with("StreamEndCapture")) {
        if (open && !capture.launches.empty()) found.push_back(std::move(capture));
        open = false;
        capture = {};
      } else if (open) {
        capture.launches.push_back(NodeId{n});
      }
    }
  }
  return found;
}

// What a captured launch says of its kernel: the `kernel` argument (ROCm), or the Triton op around it. Empty when it says
// nothing.
std::string_view kernel_name(const Trace& trace, const CallTree& tree, NodeId launch, NodeId op) {
  const auto kernel = find_arg(trace, tree.event[launch.value], "kernel");
  if (kernel && kernel->as_text()) return *kernel->as_text();
  if (op == kNoNode) return {};
  const std::string_view name = trace.text(trace.events.name(tree.event[op.value]));
  return name.starts_with("triton_") ? name : std::string_view{};
}

// The sort of a node, from its name; copies and sets have names of their own.
DeviceWork sort_of_node(std::string_view name) {
  if (name.starts_with("Memcpy")) return DeviceWork::copy;
  return name.starts_with("Memset") ? DeviceWork::set : DeviceWork::kernel;
}
DeviceWork sort_of_call(std::string_view call) {
  if (call.find("emcpy") != call.npos) return DeviceWork::copy;
  return call.find("emset") != call.npos ? DeviceWork::set : DeviceWork::kernel;
}

bool is_matrix_kernel(std::string_view kernel, DeviceWork sort) {
  const Category category = identify_kernel(kernel, sort, {}, LaunchHint::none).category;
  return category == Category::gemm || category == Category::conv;
}
bool is_matrix_op(std::string_view op) {
  return op.ends_with("mm") || op.find("convolution") != op.npos || op.find("conv_") != op.npos;
}

// The ops of a capture with as many launches as the graph has nodes, if it fits; else nothing.
std::vector<NodeId> ops_if_fits(const Trace& trace, const CallTree& tree, const Capture& capture, const ReplayedGraph& graph) {
  std::vector<NodeId> found;
  bool named = graph.id.has_value();
  std::size_t alike = 0;  // nodes that tell themselves apart from a plain kernel, and agree
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId launch = capture.launches[i];
    found.push_back(tree.op_of(launch));
    const std::string_view said = kernel_name(trace, tree, launch, found.back());
    const std::string_view node = trace.text(graph.nodes[i]);
    if (!said.empty() && node != "triton_" && said != node) return {};
    named = named || !said.empty();
    const DeviceWork sort = sort_of_node(node);
    if (sort != sort_of_call(trace.text(trace.events.name(tree.event[launch.value])))) return {};
    if (sort != DeviceWork::kernel) {
      ++alike;
    } else if (is_matrix_kernel(node, sort)) {
      const bool matrix_op =
          found.back() != kNoNode && is_matrix_op(trace.text(trace.events.name(tree.event[found.back().value])));
      if (!matrix_op) return {};
      ++alike;
    }
  }
  // An equal count alone proves nothing; neither does a row of equals.
  const bool pattern = alike >= kLeastAlike && alike < graph.nodes.size();
  return named || pattern ? found : std::vector<NodeId>();
}

using Captures = std::unordered_map<std::size_t, std::vector<Capture>>;  // by number of launches

bool recover_from(const Trace& trace, const CallTree& tree, const Captures& captured, ReplayedGraph* graph) {
  const auto it = captured.find(graph->nodes.size());
  if (it == captured.end()) return false;
  OpMerge merge(trace, tree);
  for (const Capture& capture : std::span(it->second).first(std::min(kMostTried, it->second.size()))) {
    const std::vector<NodeId> found = ops_if_fits(trace, tree, capture, *graph);
    if (!found.empty()) merge.add(found);
    if (merge.full()) break;
  }
  return merge.give(OpSource::capture, graph);
}

}  // namespace

void recover_ops(const Trace& trace, const CallTree& tree, const LaunchLinks& links, std::span<ReplayedGraph> graphs) {
  const EagerRun run = eager_work(trace, tree, links, NameFlags(trace, is_graph_launch));
  Captures captured;
  for (Capture& capture : captures(trace, tree)) captured[capture.launches.size()].push_back(std::move(capture));
  for (ReplayedGraph& graph : graphs) {
    if (!recover_from(trace, tree, run, &graph)) recover_from(trace, tree, captured, &graph);
  }
}

}  // namespace ridge
