// One pass: a node has its parent's phase unless its name or its forward thread says otherwise.
#include "model/phases.h"

#include "model/name_flags.h"
#include "trace/tables.h"

namespace ridge {
namespace {

bool is_optimizer(std::string_view name) {
  return name.starts_with("Optimizer.") || name.starts_with("aten::_fused_adam") || name.starts_with("aten::_fused_sgd") ||
         name.starts_with("aten::_fused_adagrad");
}

// "AddmmBackward0", "CompiledFunctionBackward", "autograd::engine::evaluate_function: AddmmBackward0".
bool is_backward(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function") || name.starts_with("torch::autograd::AccumulateGrad"))
    return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward") && name.find(' ') == name.npos && name.find('(') == name.npos;
}

}  // namespace

std::string_view name_of(Phase phase) {
  constexpr std::string_view names[] = {"forward", "backward", "optimizer"};
  return names[static_cast<std::size_t>(phase)];
}

std::vector<Phase> build_phases(const Trace& trace, const CallTree& tree) {
  const NameFlags optimizer(trace, is_optimizer), backward(trace, is_backward);
  const OpTable table = ops(trace);
  std::vector<Phase> phases(tree.size(), Phase::forward);
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const EventClass event_class = tree.event_class[n];
    if (tree.parent[n] != kNoNode) phases[n] = phases[tree.parent[n].value];
    if (event_class != EventClass::op && event_class != EventClass::annotation) continue;
    const StringId name = trace.events.name(tree.event[n]);
    if (optimizer[name]) {
      phases[n] = Phase::optimizer;
    } else if (event_class == EventClass::op && phases[n] == Phase::forward) {
      if (backward[name] || table.fwd_thread_id.integer(tree.event[n]).value_or(0) != 0) phases[n] = Phase::backward;
    }
  }
  return phases;
}

}  // namespace ridge
