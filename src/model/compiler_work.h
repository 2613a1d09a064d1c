// CompilerWork: which calls of the host, and which device work, are the compiler's own and not the program's: what its
// autotuner tries out (model/autotune.h), and what else it runs while it compiles, to time the patterns of a pass or to fold
// constants.
//
// Whose a slice is, the innermost says of what stands around it, itself included: a phase of compilation makes it the
// compiler's, a call of compiled code inside such a phase the program's again. Under a span of the autotuner all is the
// compiler's. Phases of CUDA graphs say nothing: what they warm up and record is the program's graph.
#pragma once

#include <cstdint>
#include <vector>

#include "model/autotune.h"
#include "model/call_tree.h"
#include "model/compile_phases.h"
#include "model/compiled_regions.h"
#include "model/launch_links.h"

namespace ridge {

struct CompilerWork {
  std::vector<std::uint8_t> node;  // by node: 1 when it is the compiler's; empty when none is
  std::vector<std::uint8_t> work;  // by row of trace.of(EventClass::device_work): 1 when such a call launched it; empty as well

  bool holds(NodeId n) const { return n != kNoNode && !node.empty() && node[n.value] != 0; }
  bool holds_work(std::size_t row) const { return !work.empty() && work[row] != 0; }
};

CompilerWork build_compiler_work(const CallTree& tree, const LaunchLinks& links, const Autotuning& tuning,
                                 const CompilePhases& phases, const CompiledRegions& regions);

}  // namespace ridge
