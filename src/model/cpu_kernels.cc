// The names, and who calls: generated modules are known by the function that runs a graph, or by their file's name.
#include "model/cpu_kernels.h"

#include "model/frame_name.h"
#include "model/locations.h"

namespace ridge {
namespace {

std::string_view name_at(const Trace& trace, const CallTree& tree, NodeId node) {
  return trace.text(trace.events.name(tree.event[node.value]));
}

// `call` runs a graph, `partition_N` the part of one between captures.
bool runs_graph(const FrameName& frame) {
  return !is_user_file(frame.file) && (frame.function == "call" || frame.function.starts_with("partition_"));
}

}  // namespace

bool may_be_cpu_kernel(std::string_view name) {
  return name == kCpuKernelFrame || name.find(kCpuKernelOp) != std::string_view::npos;
}

bool is_cpu_kernel(const Trace& trace, const CallTree& tree, NodeId node) {
  const std::string_view name = name_at(trace, tree, node);
  if (tree.class_of(node) == EventClass::op) return name.find(kCpuKernelOp) != std::string_view::npos;
  const NodeId caller = tree.parent[node.value];
  if (tree.class_of(node) != EventClass::python_frame || name != kCpuKernelFrame || caller == kNoNode) return false;
  const auto frame = parse_frame_name(name_at(trace, tree, caller));
  return frame && runs_graph(*frame);
}

CpuKernelName name_cpu_kernel(const Trace& trace, const CallTree& tree, NodeId kernel) {
  CpuKernelName name{.kernel = name_at(trace, tree, kernel), .file = {}};
  const NodeId inside{kernel.value + 1};  // a node's first child stands right behind it
  if (inside.value < tree.size() && tree.parent[inside.value] == kernel && is_cpu_kernel(trace, tree, inside))
    name.kernel = name_at(trace, tree, inside);
  for (NodeId n = tree.parent[kernel.value]; n != kNoNode; n = tree.parent[n.value]) {
    if (tree.class_of(n) != EventClass::python_frame) continue;
    const auto frame = parse_frame_name(name_at(trace, tree, n));
    if (frame && runs_graph(*frame)) name.file = frame->file;
    break;
  }
  return name;
}

}  // namespace ridge
