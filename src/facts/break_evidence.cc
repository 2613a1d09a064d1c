// Scans the slices at a break and keeps the strongest evidence: an explicit break, a value, a shape, a disabled function, a
// call that Dynamo cannot trace, a wait, eager ops.
#include "facts/break_evidence.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "facts/break_costs.h"
#include "model/cpu_kernels.h"
#include "model/frame_name.h"

namespace ridge {
namespace {

// What stands at a break, strongest evidence first.
struct Evidence {
  bool explicit_break = false;          // torch._dynamo.graph_break()
  std::string_view value;               // aten::item and its like: Python needed a number
  std::string_view shape;               // aten::nonzero and its like: a shape depends on data
  std::string disabled;                 // the function
  std::string call;                     // the last one that the frame made itself
  std::string_view sync;                // a call that waits
  std::vector<std::string_view> eager;  // ops, in order, each once

  std::string text() const {
    if (explicit_break) return "torch._dynamo.graph_break()";
    if (!value.empty()) return "data-dependent: " + std::string(value);
    if (!shape.empty()) return "data-dependent shape: " + std::string(shape);
    if (!disabled.empty()) return "disabled function " + disabled;
    if (!call.empty()) return "calls " + call;
    if (!sync.empty()) return "waits: " + std::string(sync);
    if (eager.empty()) return "";
    constexpr std::size_t kOpsNamed = 3;
    std::string text = "eager ops: ";
    for (std::size_t i = 0; i < eager.size() && i < kOpsNamed; ++i) text += (i == 0 ? "" : ", ") + std::string(eager[i]);
    if (eager.size() > kOpsNamed) text += ", and " + std::to_string(eager.size() - kOpsNamed) + " more";
    return text;
  }
};

bool is_value_op(std::string_view op) { return op == "aten::item" || op == "aten::_local_scalar_dense"; }
bool is_shape_op(std::string_view op) {
  return op == "aten::nonzero" || op == "aten::masked_select" || op.starts_with("aten::_unique") || op == "aten::unique_dim";
}
bool is_wait(std::string_view call) { return call.find("Synchronize") != call.npos || call.find("EventQuery") != call.npos; }

bool is_torchs(std::string_view file) {
  return file.starts_with("torch/") || file.find("/torch/") != std::string_view::npos || file.front() == '<';
}

// "<built-in method append of list object>": the address tells nothing.
std::string_view without_address(std::string_view builtin) { return builtin.substr(0, builtin.find(" at 0x")); }

// A function of C's that a frame calls, in the words of its frame; empty for what Dynamo itself calls between graphs, and for
// methods of tensors, whose ops tell more.
std::string builtin_call(std::string_view name) {
  if (!name.starts_with("<built-in ")) return {};
  for (const std::string_view own : {"function set_eval_frame", "function getattr", "function isinstance", "function len"}) {
    if (name.find(own) == std::string_view("<built-in ").size()) return {};
  }
  if (name.find(" of Tensor object") != name.npos || name.find("RecordFunctionFast") != name.npos) return {};
  const std::string_view plain = without_address(name);
  return std::string(plain) + (plain.size() < name.size() ? ">" : "");
}

std::string named(const FrameName& frame) {
  return std::string(frame.function) + " (" + std::string(frame.file) + ":" + std::to_string(frame.line) + ")";
}

class BreakScan {
 public:
  // Of the slices before `next` on its thread.
  BreakScan(const Model& model, NodeId next, NodeId frame = kNoNode)
      : model_(model),
        trace_(model.trace()),
        tree_(model.tree()),
        regions_(model.compiled_regions()),
        next_(next),
        frame_(frame == kNoNode ? tree_.parent[next.value] : frame),
        thread_(thread_of(tree_, next)) {}

  // Fills the evidence, if there is any to be filled; returns what is no cost of the break.
  IntervalSet scan(std::int64_t from_ns, Evidence* evidence) {
    from_ns_ = from_ns;
    const HostThread& t = tree_.threads[thread_];
    const auto begin = tree_.start_ns.begin() + t.first;
    auto n = static_cast<std::uint32_t>(std::lower_bound(begin, begin + t.count, from_ns) - tree_.start_ns.begin());
    for (; n < next_.value; ++n) {
      if (tree_.event_class[n] == EventClass::python_frame) {
        see_frame(NodeId{n}, evidence);
      } else {
        see(NodeId{n}, evidence);
      }
    }
    close();
    add_compilation();
    return IntervalSet(std::move(left_out_));
  }

 private:
  std::string_view name(NodeId n) const { return trace_.text(trace_.events.name(tree_.event[n.value])); }
  Interval time(NodeId n) const { return {tree_.start_ns[n.value], tree_.end_ns[n.value]}; }

  void close() {
    if (!waits_ && outer_.length() > 0) left_out_.push_back(outer_);
    outer_ = {};
    waits_ = false;
  }

  void see(NodeId node, Evidence* evidence) {
    const std::uint32_t n = node.value;
    if (tree_.end_ns[n] > tree_.start_ns[next_.value] || of_the_graph_before(node)) return;
    const std::string_view text = name(node);
    if (tree_.start_ns[n] >= covered_ns_) {
      close();
      if (is_compile_overhead(text)) return;
      if (tree_.event_class[n] == EventClass::annotation && !compiling(tree_.start_ns[n])) return;
      covered_ns_ = tree_.end_ns[n];
      outer_ = time(node);
      const bool eager =
          tree_.event_class[n] == EventClass::op && text.find("::") != text.npos && !compiling(tree_.start_ns[n]);
      if (eager && evidence != nullptr &&
          std::find(evidence->eager.begin(), evidence->eager.end(), text) == evidence->eager.end())
        evidence->eager.push_back(text);
    }
    if (evidence == nullptr || compiling(tree_.start_ns[n]) ||
        regions_.call_at(node) != regions_.call_at(tree_.parent[next_.value]))
      return;
    note_wait(text, tree_.start_ns[n] < call_until_ns_, evidence);
  }

  // `called`: by a function that the frame calls, which is the reason, whatever it asks for.
  void note_wait(std::string_view text, bool called, Evidence* evidence) {
    std::string_view* const kept = is_value_op(text)   ? &evidence->value
                                   : is_shape_op(text) ? &evidence->shape
                                   : is_wait(text)     ? &evidence->sync
                                                       : nullptr;
    if (kept == nullptr) return;
    waits_ = true;
    if (kept->empty() && !called) *kept = is_value_op(text) ? "aten::item" : text;
  }

  // The call around the graph that the stretch begins behind: its way out is the break's.
  bool of_the_graph_before(NodeId node) const {
    const std::uint32_t call = regions_.call_at(node);
    if (call == kNoCall || regions_.calls[call].sort == CompiledSort::region) return false;
    return tree_.start_ns[regions_.calls[call].node.value] < from_ns_;
  }

  void see_frame(NodeId node, Evidence* evidence) {
    if (is_cpu_kernel(trace_, tree_, node)) left_out_.push_back(time(node));
    if (evidence == nullptr) return;
    if (evidence->disabled.empty()) note_disabled(node, evidence);
    note_call(node, evidence);
  }

  // What the broken frame calls itself, between its graph and the resumed frame: the last such call is where it broke.
  void note_call(NodeId node, Evidence* evidence) {
    const NodeId caller = tree_.parent[node.value];
    if (caller == kNoNode || caller != frame_ || tree_.class_of(caller) != EventClass::python_frame) return;
    const std::string_view text = name(node);
    const auto frame = parse_frame_name(text);
    if (frame && frame->function == "graph_break" && is_torchs(frame->file)) evidence->explicit_break = true;
    std::string call = frame ? (is_torchs(frame->file) ? "" : named(*frame)) : builtin_call(text);
    if (call.empty()) return;
    evidence->call = std::move(call);
    call_until_ns_ = tree_.end_ns[node.value];
  }

  // torch.compiler.disable wraps a function in `_fn` of eval_frame.py; so does Dynamo its own compiled functions, which live in
  // torch/.
  void note_disabled(NodeId node, Evidence* evidence) const {
    const NodeId wrapper = tree_.parent[node.value];
    if (wrapper == kNoNode || tree_.class_of(wrapper) != EventClass::python_frame) return;
    const auto outer = parse_frame_name(name(wrapper));
    if (!outer || outer->function != "_fn" || !outer->file.ends_with("torch/_dynamo/eval_frame.py")) return;
    const auto frame = parse_frame_name(name(node));
    if (!frame || is_torchs(frame->file)) return;
    evidence->disabled = named(*frame);
  }

  bool compiling(std::int64_t time_ns) const {
    const auto list = compilation();
    const auto it =
        std::upper_bound(list.begin(), list.end(), time_ns, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
    return it != list.begin() && time_ns < (it - 1)->end_ns;
  }
  void add_compilation() {
    const auto list = compilation();
    auto it =
        std::upper_bound(list.begin(), list.end(), from_ns_, [](std::int64_t t, const Interval& i) { return t < i.end_ns; });
    for (; it != list.end() && it->start_ns < tree_.start_ns[next_.value]; ++it) left_out_.push_back(*it);
  }
  std::span<const Interval> compilation() const {
    const CompilePhases& phases = model_.compile_phases();
    return phases.of_thread.empty() ? std::span<const Interval>() : phases.of_thread[thread_].intervals();
  }

  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  NodeId next_;
  NodeId frame_;  // in which it broke
  std::size_t thread_;
  std::int64_t from_ns_ = 0;
  Interval outer_;  // the outermost slice so far, and whether it waits
  bool waits_ = false;
  std::int64_t covered_ns_ = INT64_MIN;
  std::int64_t call_until_ns_ = INT64_MIN;
  std::vector<Interval> left_out_;
};

}  // namespace

BreakEvidence evidence_at_break(const Model& model, std::int64_t from_ns, NodeId region) {
  Evidence evidence;
  IntervalSet left_out = BreakScan(model, region).scan(from_ns, &evidence);
  return {evidence.text(), std::move(left_out)};
}

BreakEvidence evidence_in_eager_frame(const Model& model, std::int64_t from_ns, NodeId next, NodeId frame) {
  Evidence evidence;
  IntervalSet left_out = BreakScan(model, next, frame).scan(from_ns, &evidence);
  evidence.call.clear();
  evidence.eager.clear();
  return {evidence.text(), std::move(left_out)};
}

IntervalSet left_out_before(const Model& model, std::int64_t from_ns, NodeId next) {
  return BreakScan(model, next).scan(from_ns, nullptr);
}

}  // namespace ridge
