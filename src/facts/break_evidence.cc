// Scans the slices at a break and keeps the strongest evidence: a value, a shape, a disabled function, a wait, eager ops.
#include "facts/break_evidence.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/saturating.h"
#include "model/frame_name.h"

namespace ridge {
namespace {

// What stands at a break, strongest evidence first.
struct Evidence {
  std::string_view value;               // aten::item and its like: Python needed a number
  std::string_view shape;               // aten::nonzero and its like: a shape depends on data
  std::string_view sync;                // a call that waits
  std::string disabled;                 // the function
  std::vector<std::string_view> eager;  // ops, in order, each once

  std::string text() const {
    if (!value.empty()) return "data-dependent: " + std::string(value);
    if (!shape.empty()) return "data-dependent shape: " + std::string(shape);
    if (!disabled.empty()) return "disabled function " + disabled;
    if (!sync.empty()) return "waits: " + std::string(sync);
    if (eager.empty()) return "";
    constexpr std::size_t kShown = 3;
    std::string text = "eager ops: ";
    for (std::size_t i = 0; i < eager.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + std::string(eager[i]);
    if (eager.size() > kShown) text += ", and " + std::to_string(eager.size() - kShown) + " more";
    return text;
  }
};

bool is_value_op(std::string_view op) { return op == "aten::item" || op == "aten::_local_scalar_dense"; }
bool is_shape_op(std::string_view op) {
  return op == "aten::nonzero" || op == "aten::masked_select" || op.starts_with("aten::_unique") || op == "aten::unique_dim";
}
bool is_wait(std::string_view call) { return call.find("Synchronize") != call.npos || call.find("EventQuery") != call.npos; }

class BreakScan {
 public:
  BreakScan(const Model& model, std::size_t thread)
      : model_(model), trace_(model.trace()), tree_(model.tree()), regions_(model.compiled_regions()), thread_(thread) {}

  // Fills the evidence; returns the time of work that is no cost of the break.
  std::int64_t scan(std::int64_t from_ns, NodeId region, Evidence* evidence) const {
    const HostThread& t = tree_.threads[thread_];
    const auto begin = tree_.start_ns.begin() + t.first;
    auto n = static_cast<std::uint32_t>(std::lower_bound(begin, begin + t.count, from_ns) - tree_.start_ns.begin());
    std::int64_t own_ns = 0, covered_ns = INT64_MIN, outer_ns = 0;
    bool waits = false;
    const auto close = [&] {
      if (!waits) saturating_add(&own_ns, outer_ns);
      outer_ns = 0;
      waits = false;
    };
    for (; n < region.value; ++n) {
      const NodeId node{n};
      const std::string_view text = name(node);
      if (tree_.event_class[n] == EventClass::python_frame) {
        if (evidence->disabled.empty()) note_disabled(node, text, evidence);
        continue;
      }
      if (tree_.start_ns[n] >= covered_ns) {
        close();
        if (is_compile_overhead(text)) continue;
        if (tree_.event_class[n] == EventClass::annotation && !compiling(tree_.start_ns[n])) continue;
        covered_ns = tree_.end_ns[n];
        outer_ns = tree_.duration_ns(node);
        const bool eager =
            tree_.event_class[n] == EventClass::op && text.find("::") != text.npos && !compiling(tree_.start_ns[n]);
        if (eager && std::find(evidence->eager.begin(), evidence->eager.end(), text) == evidence->eager.end())
          evidence->eager.push_back(text);
      }
      if (compiling(tree_.start_ns[n]) || regions_.call_at(node) != regions_.call_at(tree_.parent[region.value])) continue;
      if (is_value_op(text)) {
        waits = true;
        if (evidence->value.empty()) evidence->value = "aten::item";
      } else if (is_shape_op(text)) {
        waits = true;
        if (evidence->shape.empty()) evidence->shape = text;
      } else if (is_wait(text)) {
        waits = true;
        if (evidence->sync.empty()) evidence->sync = text;
      }
    }
    close();
    return own_ns;
  }

 private:
  std::string_view name(NodeId n) const { return trace_.text(trace_.events.name(tree_.event[n.value])); }

  // torch.compiler.disable wraps a function in `_fn` of eval_frame.py; so does Dynamo its own compiled functions, which live in
  // torch/.
  void note_disabled(NodeId node, std::string_view text, Evidence* evidence) const {
    const NodeId wrapper = tree_.parent[node.value];
    if (wrapper == kNoNode || tree_.class_of(wrapper) != EventClass::python_frame) return;
    const auto outer = parse_frame_name(name(wrapper));
    if (!outer || outer->function != "_fn" || !outer->file.ends_with("torch/_dynamo/eval_frame.py")) return;
    const auto frame = parse_frame_name(text);
    if (!frame || frame->file.starts_with("torch/") || frame->file.find("/torch/") != std::string_view::npos ||
        frame->file.front() == '<')
      return;
    evidence->disabled =
        std::string(frame->function) + " (" + std::string(frame->file) + ":" + std::to_string(frame->line) + ")";
  }

  bool compiling(std::int64_t time_ns) const {
    const CompilePhases& phases = model_.compile_phases();
    if (phases.of_thread.empty()) return false;
    const auto list = phases.of_thread[thread_].intervals();
    const auto it =
        std::upper_bound(list.begin(), list.end(), time_ns, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
    return it != list.begin() && time_ns < (it - 1)->end_ns;
  }

  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  std::size_t thread_;
};

}  // namespace

BreakEvidence evidence_at_break(const Model& model, std::size_t thread, std::int64_t from_ns, NodeId region) {
  Evidence evidence;
  const std::int64_t own_ns = BreakScan(model, thread).scan(from_ns, region, &evidence);
  return {evidence.text(), own_ns};
}

}  // namespace ridge
