// The device work that a scope holds: every analysis of device time walks it, so that their totals are one.
#pragma once

#include <cstdint>

#include "facts/scope.h"

namespace ridge {

enum class CompilerWorkFilter : std::uint8_t { with, without };  // what is not the program's work: see model/compiler_work.h

// Calls f(const Device&, const WorkRow&) for each, by device and then in order of start.
template <class F>
void for_each_work(const Scope& scope, F f, CompilerWorkFilter compilers = CompilerWorkFilter::with) {
  const CompilerWork* left_out = compilers == CompilerWorkFilter::without ? &scope.model().compiler_work() : nullptr;
  for (const Device& device : scope.model().timeline().devices) {
    if (!scope.has_device(device.id)) continue;
    for (const WorkRow& work : device.work) {
      if (scope.holds_work(work.row) && (left_out == nullptr || !left_out->holds_work(work.row))) f(device, work);
    }
  }
}

inline std::int64_t duration_ns(const WorkRow& work) { return work.end_ns - work.start_ns; }

// Where work belongs that no op launched.
inline constexpr std::string_view kBeforeWindow = "[launched before the window]";
inline constexpr std::string_view kNoOp = "[no op]";
inline constexpr std::string_view kNoLaunches =
    "[no launches in the trace]";  // of the device alone: nothing tells when it was launched

// The op whose work a row is: recovered where a graph's replay hides it, else the op that launched it. kNoNode when there is
// none.
inline NodeId op_of(const Model& model, std::size_t row) {
  const NodeId recovered = model.graph_replays().recovered_op(row).op;
  return recovered != kNoNode ? recovered : model.links().op[row];
}

// The call that launched it: outside of the replay where a graph hides it and it was recovered, else as recorded. It tells the
// Python frames and the module. kNoNode when there is none.
inline NodeId caller_of(const Model& model, std::size_t row) {
  const NodeId recovered = model.graph_replays().recovered_op(row).launch;
  return recovered != kNoNode ? recovered : model.links().launch[row];
}

// What stands for the op of work without a launch.
inline std::string_view without_launch(const Trace& trace) {
  return trace.of(EventClass::launch).empty() ? kNoLaunches : kBeforeWindow;
}

// Its name, or one of the above.
inline std::string_view op_name(const Model& model, std::size_t row) {
  const NodeId op = op_of(model, row);
  if (op != kNoNode) return model.trace().text(model.trace().events.name(model.tree().event[op.value]));
  return model.links().launch[row] == kNoNode ? without_launch(model.trace()) : kNoOp;
}

}  // namespace ridge
