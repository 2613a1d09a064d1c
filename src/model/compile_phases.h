// CompilePhases: what the compiler did inside the window, as a tree of phases: Dynamo's tracing, AOT, Inductor's lowering and
// code generation, autotuning. Newer profilers write each phase twice, bare and as "<key> (dynamo_timed)" inside it: one phase,
// under its key.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "model/call_tree.h"
#include "model/compile_id.h"
#include "trace/trace.h"

namespace ridge {

inline constexpr std::uint32_t kNoPhase = UINT32_MAX;

struct CompilePhase {
  NodeId node;
  NodeId span;                      // the bare slice around `node` where the phase is written twice; else `node`
  std::string_view key;             // "GraphLowering.run"; text of the trace
  std::uint32_t parent = kNoPhase;  // the phase around it; stands before it
  CompileId id;                     // as its data mark says, else its parent's
  std::string_view kernel;          // of an autotuning phase: the kernel, where the trace names it
  bool autotune = false;
};

struct CompilePhases {
  std::vector<CompilePhase> phases;    // in tree order
  std::vector<IntervalSet> of_thread;  // time of compilation, by index of CallTree::threads; empty when nothing was compiled

  bool empty() const { return phases.empty(); }
};

CompilePhases build_compile_phases(const Trace& trace, const CallTree& tree);

}  // namespace ridge
