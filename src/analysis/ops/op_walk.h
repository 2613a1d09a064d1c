// What each call of an op took: one walk over the call tree with the open calls on a stack; device time and FLOPs come from the
// work below each op. Which calls make a row is not its concern (ops.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ops/flop_sum.h"
#include "analysis/ops/table_calls.h"
#include "base/saturating.h"
#include "facts/scope.h"
#include "facts/scoped_work.h"

namespace ridge {

// What one call of an op took.
struct OpCost {
  std::int64_t child_cpu_ns = 0;  // of ops and runtime calls right below
  std::int64_t device_self_ns = 0, device_total_ns = 0;
  std::int64_t kernels = 0;
  std::int64_t pieces = 0;  // of device work, with nested ops'
  FlopSum flops;            // with nested ops'
};

struct LaunchedWork {
  NodeId op;
  std::int64_t time_ns;
  bool is_kernel;
  bool recovered;     // another op's own: this one only launched the graph
  std::uint32_t row;  // of the device work
};

// Of a row of the device work.
bool is_kernel(const Trace& trace, std::uint32_t row);

// Of kernels, which may compute anything, and of copies that are known to compute nothing.
void add_flops(const Scope& scope, std::uint32_t row, std::int64_t time_ns, FlopSum* sum);

// What is left out; nothing where the compiler's own is asked for too.
const CompilerWork& compiler_work_left_out(const Scope& scope, CompilerWorkFilter compilers);

// The work of the scope that ops launched, in order of op.
std::vector<LaunchedWork> work_of_ops(const Scope& scope, CompilerWorkFilter compilers);

// Walks the call tree with the calls around the current node on a stack (see table_calls.h). Each op is handed over twice: to
// enter(NodeId) before those below it, and to leave(NodeId, const OpCost&) when everything below it was seen; one that is part
// of the call around it, never. Without the compiler's own, whatever of it stands in an op takes from the op's own time, as a
// call does.
template <class Enter, class Leave>
void for_each_op(const Scope& scope, WithCosts with, CompilerWorkFilter compilers, Enter enter, Leave leave) {
  const CallTree& tree = scope.model().tree();
  const CompilerWork& apart = compiler_work_left_out(scope, compilers);
  const TableCalls calls(scope.trace(), tree);
  const std::vector<LaunchedWork> launched = work_of_ops(scope, compilers);
  auto work = launched.begin();
  struct Open {
    NodeId node;
    bool is_op;
    bool is_merged;
    OpCost cost;
  };
  std::vector<Open> open;
  const auto close = [&] {
    const Open done = open.back();
    open.pop_back();
    // Work under a call without an op of its own belongs to the next op above it.
    if (!open.empty()) {
      OpCost& above = open.back().cost;
      saturating_add(&above.device_total_ns, done.cost.device_total_ns);
      above.flops.add(done.cost.flops);
      above.pieces += done.cost.pieces;
      if (done.is_merged) {
        saturating_add(&above.child_cpu_ns, done.cost.child_cpu_ns);
        saturating_add(&above.device_self_ns, done.cost.device_self_ns);
        above.kernels += done.cost.kernels;
      }
    }
    if (done.is_op && !done.is_merged) leave(done.node, done.cost);
  };
  for (std::uint32_t i = 0; i < tree.recorded; ++i) {
    const NodeId n{i};
    // A utility op that launched something has its row: no device time is lost.
    while (work != launched.end() && work->op < n) ++work;
    const bool has_work = work != launched.end() && work->op == n;
    const bool is_call = calls.is_call(n) || has_work;
    const bool is_op = is_call && tree.event_class[i] == EventClass::op;
    const NodeId above = calls.above(n);
    const bool begins_apart = apart.holds(n) && !apart.holds(tree.parent[i]);
    if (!is_call && !begins_apart) continue;
    while (!open.empty() && open.back().node != above) close();
    const bool inside_apart = apart.holds(n) && !apart.holds(above);  // of a slice that is no call and was subtracted whole
    if (!open.empty() && open.back().is_op && !calls.is_merged(n) && (begins_apart || !inside_apart))
      saturating_add(&open.back().cost.child_cpu_ns, tree.duration_ns(n));
    if (!is_call) continue;
    OpCost cost;
    for (; work != launched.end() && work->op == n; ++work) {
      ++cost.pieces;
      saturating_add(&cost.device_total_ns, work->time_ns);
      if (with == WithCosts::yes) add_flops(scope, work->row, work->time_ns, &cost.flops);
      if (work->recovered) continue;
      saturating_add(&cost.device_self_ns, work->time_ns);
      cost.kernels += work->is_kernel;
    }
    if (is_op && !calls.is_merged(n)) enter(n);
    open.push_back({n, is_op, calls.is_merged(n), cost});
  }
  while (!open.empty()) close();
}

// Calls without a duration stand in no tree: f(EventId, NodeId around) for those of the scope.
template <class F>
void for_each_untimed_op(const Scope& scope, F f) {
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  for (const EventId event : trace.of(EventClass::op)) {
    const std::int64_t time_ns = trace.events.ts_ns(event);
    if (trace.events.dur_ns(event) || time_ns == kNoTime) continue;
    const TimeRange host = scope.host_window(trace.track(event));
    if (!scope.whole() && (time_ns < host.start_ns || time_ns >= host.end_ns)) continue;
    const HostThread* thread = tree.thread_of(trace.track(event));
    f(event, thread == nullptr ? kNoNode : tree.innermost_at(*thread, time_ns));
  }
}

}  // namespace ridge
