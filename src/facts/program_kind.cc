// Phases of host slices tell; where a whole step is one graph's replay, only its kernels do.
#include "facts/program_kind.h"

#include <algorithm>

#include "model/name_flags.h"
#include "model/phases.h"

namespace ridge {
namespace {

bool trains_by_name(const KernelIdentity& kernel) {
  if (kernel.category == Category::optimizer) return true;
  const auto is_backward = [](std::string_view op) { return op.ends_with("_backward") || op.ends_with("_backward_data"); };
  return std::any_of(kernel.fused_ops.begin(), kernel.fused_ops.end(), is_backward);
}

// A transposed convolution is computed by the kernel of another one's gradient (dgrad), forward too; who trains has wgrad.
bool names_backward(std::string_view kernel) {
  for (const std::string_view part : {"backward", "Backward", "_bwd", "wgrad"}) {
    if (kernel.find(part) != kernel.npos) return true;
  }
  return false;
}

bool any_event(const Trace& trace, EventClass kind, const NameFlags& flags) {
  const auto events = trace.of(kind);
  return flags.any() && std::any_of(events.begin(), events.end(), [&](EventId e) { return flags[trace.events.name(e)]; });
}

bool any_kernel_trains(const Model& model) {
  const KernelIdentities& kernels = model.identities();
  if (std::any_of(kernels.identities.begin(), kernels.identities.end(), trains_by_name)) return true;
  const Trace& trace = model.trace();
  const NameFlags backward(trace, names_backward);
  return any_event(trace, EventClass::device_work, backward);
}

}  // namespace

Server server_of(const Trace& trace) {
  struct Sign {
    Server server;
    std::string_view op, frame;
  };
  // SGLang first: it calls some of vLLM's ops.
  for (const Sign& sign : {Sign{Server::sglang, "sgl_kernel::", "sglang/srt/"}, Sign{Server::vllm, "vllm::", "vllm/v1/"}}) {
    const NameFlags ops(trace, [&](std::string_view name) { return name.starts_with(sign.op); });
    const NameFlags frames(trace, [&](std::string_view name) { return name.find(sign.frame) != name.npos; });
    if (any_event(trace, EventClass::op, ops) || any_event(trace, EventClass::python_frame, frames)) return sign.server;
  }
  return Server::none;
}

ProgramKind program_kind(const Model& model) {
  const std::vector<Phase> phases = build_phases(model.trace(), model.tree());
  if (std::any_of(phases.begin(), phases.end(), [](Phase phase) { return phase != Phase::forward; }) ||
      any_kernel_trains(model))
    return ProgramKind::trains;
  return model.trace().of(EventClass::op).empty() ? ProgramKind::unknown : ProgramKind::infers;
}

}  // namespace ridge
