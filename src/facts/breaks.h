// breaks: where Dynamo left a compiled frame and resumed it (graph breaks), the compiled regions themselves, and recompiles
// inside the window.
//
// A break is the call of a resume function: a region of another frame nested in its parent in tail position, so that no op,
// launch or graph call of the parent follows it. Where stacks were recorded the resumed frame's name decides. A break is also
// where a frame that Dynamo gave up goes from one compiled call to the next (eager_frames.h). Not breaks: a compiled callee,
// separate torch.compile calls, a recompile, compiled code under a disabled function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/scope.h"

namespace ridge {

struct GraphBreak {
  CompileId frame;         // resumed, or the next one that a given-up frame calls; `compile` is not set
  CompileId parent;        // broken; not known of a frame that was given up
  std::int64_t depth = 0;  // of the resumed region below its outermost one; tells breaks apart where there are no ids
  std::int64_t occurrences = 0;
  std::string location = {};  // empty when the trace has no stacks
  std::string reason = {};    // what the trace shows at the break; empty when nothing does
  // From the graph that the parent left to the one in which the resumed frame goes on, and between their backward graphs:
  // lookup, bytecode around the graphs, autograd, waiting for a value that Python needs. Compilation and ops that run eager in
  // between are left out (break_costs.h).
  std::int64_t cpu_ns = 0;
  // Of that time, in which the device had nothing to do; none where its next work had to queue.
  std::int64_t gpu_idle_ns = 0;
};

struct RegionRow {
  CompileId id;
  CompileId parent;  // not known for an outermost region
  bool nested = false;
  std::int64_t depth = 0;  // 0: outermost
  std::int64_t calls = 0;
  std::int64_t cpu_ns = 0;  // inclusive
  std::int64_t gpu_ns = 0;  // launched inside, nested regions left out; of the backward too
  std::string location;
};

struct Recompile {
  CompileId id;
  NodeId node;                // the call of the region that it was for
  std::int64_t start_ns = 0;  // relative to the window's start
  std::int64_t compile_ns = 0;
  std::string location = {};
};

// A stretch of a device's idle time that a break stands for; those of all breaks add up to their gpu_idle_ns.
struct BreakIdle {
  std::int64_t device = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t site = 0;  // index of its occurrence
};

// One occurrence of a break: the region behind it.
struct BreakSite {
  NodeId node;
  std::int64_t cpu_ns = 0;
  std::string location, reason;
};

// From the first to the last compiled call that one call of a given-up frame makes; of outermost ones.
struct EagerSpan {
  NodeId first;
  std::int64_t end_ns = 0;
};

struct Breaks {
  std::vector<GraphBreak> breaks;  // in order of CPU cost
  std::vector<BreakSite> sites;    // resumed ones in tree order, then those in frames that were given up
  std::vector<BreakIdle> idle;     // by device and time; none overlaps another
  std::vector<EagerSpan> given_up;
  std::vector<RegionRow> regions;  // in order of first call
  std::vector<Recompile> recompiles;
  bool has_device_work = false;
  bool has_ids = true;
  std::int64_t functions_without_region = 0;  // PyTorch 2.0 and 2.1
  std::int64_t maybe_given_up = 0;            // compiled calls of a frame that may have been given up: stacks would tell

  std::int64_t occurrences() const;
};

Breaks compute_breaks(const Scope& scope);

}  // namespace ridge
