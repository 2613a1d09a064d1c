// One pass over the tree: a node inherits its parent's answer unless a phase or a compiled call changes it.
#include "model/compiler_work.h"

#include <string_view>

namespace ridge {
namespace {

// cudagraphify, CUDAGraphNode.record, CUDAGraphTreeManager.add_function: the last has the first run of the graph, whose results
// are used.
bool runs_the_program(std::string_view phase) { return phase.starts_with("cudagraphify") || phase.starts_with("CUDAGraph"); }

}  // namespace

CompilerWork build_compiler_work(const CallTree& tree, const LaunchLinks& links, const Autotuning& tuning,
                                 const CompilePhases& phases, const CompiledRegions& regions) {
  CompilerWork out;
  if (tuning.node.empty() && phases.empty()) return out;
  out.node.resize(tree.size());
  auto phase = phases.phases.begin();
  auto call = regions.calls.begin();
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const NodeId parent = tree.parent[n];
    bool compilers = parent != kNoNode && out.node[parent.value] != 0;
    for (; phase != phases.phases.end() && phase->span.value <= n; ++phase) compilers |= !runs_the_program(phase->key);
    for (; call != regions.calls.end() && call->node.value <= n; ++call) compilers = false;
    out.node[n] = compilers || tuning.holds(NodeId{n});
  }
  out.work.resize(links.launch.size());
  for (std::size_t row = 0; row < links.launch.size(); ++row) out.work[row] = out.holds(links.launch[row]);
  return out;
}

}  // namespace ridge
