// CompiledRegions: where compiled code ran. Each call of a compiled frame (Torch-Compiled Region), of its autograd function
// (CompiledFunction, CompiledFunctionBackward) and of its graph (## Call CompiledFxGraph <key> ##), and each look into Dynamo's
// cache.
//
// What a trace has depends on its PyTorch: 2.0 the functions only; 2.1 lookups; 2.2 regions without ids; 2.5 ids as an
// argument; 2.6 ids in names; 2.9 graph calls. Everything that is not there is not known, and never guessed from the version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "model/compile_id.h"
#include "model/compile_phases.h"
#include "model/forward_backward.h"
#include "trace/trace.h"

namespace ridge {

inline constexpr std::uint32_t kNoCall = UINT32_MAX;

enum class CompiledSort : std::uint8_t { region, function, backward_function, graph };

struct CompiledCall {
  NodeId node;
  CompiledSort sort = CompiledSort::region;
  bool backward = false;
  std::uint32_t parent = kNoCall;  // the call around it on its thread; stands before it
  std::uint32_t region = kNoCall;  // the region it belongs to: itself, the one around it, or the forward's for a backward call
  std::uint32_t lookup = UINT32_MAX;  // of a region: the lookup that led to it
  CompileId id;                       // of that region
  std::string_view key;               // of a graph: its cache key; text of the trace
};

enum class LookupOutcome : std::uint8_t {
  hit,           // the region followed
  compiled,      // it was compiled first
  not_compiled,  // no region followed: the frame runs eager (recompile limit, run-only, or Dynamo skips it)
  skipped,       // compiled, or tried to, and nothing to run came of it
};

struct CacheLookup {
  NodeId node;
  LookupOutcome outcome = LookupOutcome::hit;
  std::uint32_t region = kNoCall;
  std::int64_t compile_ns = 0;  // time of compilation between it and its region
};

struct CompiledRegions {
  std::vector<CompiledCall> calls;  // in tree order
  // Nodes that stand together and share their innermost call: from this one to the next stretch.
  struct Stretch {
    std::uint32_t first = 0;  // node
    std::uint32_t call = kNoCall;
  };
  std::vector<Stretch> stretches;    // in tree order; empty when there are no calls
  std::vector<CacheLookup> lookups;  // in tree order; those inside a compilation are the compiler's own and left out

  // The innermost call around a node, itself included.
  std::uint32_t call_at(NodeId n) const {
    if (n == kNoNode) return kNoCall;
    const auto after = std::upper_bound(stretches.begin(), stretches.end(), n.value,
                                        [](std::uint32_t node, const Stretch& stretch) { return node < stretch.first; });
    return after == stretches.begin() ? kNoCall : std::prev(after)->call;
  }
};

// Work that Dynamo adds around a graph: cache lookup, Pregraph bytecode, AOTDispatcher prologue.
bool is_compile_overhead(std::string_view op);

// `forward_backward` is asked for only where the trace has backward calls.
CompiledRegions build_compiled_regions(const Trace& trace, const CallTree& tree, const CompilePhases& phases,
                                       const std::function<const ForwardBackward&()>& forward_backward);

}  // namespace ridge
