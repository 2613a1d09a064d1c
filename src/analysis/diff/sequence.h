// CallSequence: the device work of a scope as calls in the order in which the host made them, cut into iterations.
//
// What a call is depends on what both traces can tell (Grain). Work that was launched before the window stands aside, in order
// of start.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/diff/call_kind.h"
#include "facts/scope.h"

namespace ridge::diff {

enum class Grain : std::uint8_t {
  call,    // the outermost op that a user would know: aten::linear with its casts
  op,      // the outermost op that a compiler keeps or fuses as a whole: aten::addmm, aten::_to_copy
  kernel,  // each kernel for itself: replays of captured graphs, and traces without ops, have nothing else
};

struct Call {
  std::uint32_t kind = 0;
  Key region = kNoKey;  // the step of the program that it is part of, by name; see regions.h
  std::uint32_t first_work = 0;
  std::uint32_t work_count = 0;
};

struct CallSequence {
  std::vector<CallKind> kinds;
  std::vector<Call> calls;
  std::vector<std::uint32_t> work;        // rows of trace.of(EventClass::device_work), call by call
  std::vector<std::uint32_t> first_call;  // of each iteration, and one past the last
  std::vector<std::uint32_t> orphans;     // rows launched before the window, in order of start
  std::unordered_map<Key, std::string> region_names;
  bool has_shapes = false, has_modules = false, has_grids = false, has_phases = true;

  std::size_t iterations() const { return first_call.size() - 1; }
  std::span<const std::uint32_t> rows_of(const Call& call) const { return {work.data() + call.first_work, call.work_count}; }
};

// How the program ran, as far as it decides which grain two traces can be compared in.
struct RunMode {
  double generated = 0;  // Inductor kernels per iteration
  bool bare = false;     // most of the work has no op of its own: captured graphs replay it, or ops were not recorded
};
RunMode run_mode(const Scope& scope);

// The phases that work is known to be of, a bit each. A graph that was captured of a whole step is replayed in none; a trace
// without ops may still mark the optimizer.
std::uint32_t told_phases(const Scope& scope);

// One is compiled and the other is not, or much less of it: the work of one is fused in the other.
bool is_mixed(RunMode a, RunMode b);

Grain common_grain(RunMode a, RunMode b);

// What counts as evidence beside ops and kernels: what all traces of a comparison can tell.
struct TraceEvidence {
  bool places = false;  // the module that makes a call; costs time
  bool phases = true;
};
CallSequence build_sequence(const Scope& scope, Grain grain, TraceEvidence evidence, KeyPool& pool);

// Whether the trace tells which nn.Module made a call.
bool has_places(const Trace& trace);

}  // namespace ridge::diff
