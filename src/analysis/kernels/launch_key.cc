// Each regrouping by one lookup; work whose launch was not recorded has a key of its own.
#include "analysis/kernels/launch_key.h"

#include <string_view>

#include "facts/scoped_work.h"
#include "model/locations.h"

namespace ridge {
namespace {

std::string or_else(std::string text, std::string_view none) { return text.empty() ? std::string(none) : text; }

}  // namespace

LaunchKey::LaunchKey(const Scope& scope, KernelsBy by) : model_(scope.model()), by_(by), ops_(ops(scope.trace())) {
  if (by == KernelsBy::annotation) annotations_.emplace(model_);
  if (by == KernelsBy::graph) graphs_ = graphs_around(model_);
  if (by == KernelsBy::stage) steps_ = build_server_steps(model_.trace(), model_.tree());
}

std::vector<LaunchKey::GraphAround> LaunchKey::graphs_around(const Model& model) {
  const CallTree& tree = model.tree();
  std::vector<GraphAround> around(tree.size());
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    if (tree.parent[n] != kNoNode) around[n] = around[tree.parent[n].value];
    if (tree.event_class[n] != EventClass::op && tree.event_class[n] != EventClass::annotation) continue;
    const StringId name = model.trace().events.name(tree.event[n]);
    const std::string_view text = model.trace().text(name);
    const bool is_graph = text.starts_with("## Call CompiledFxGraph");
    const bool is_region = text.starts_with("Torch-Compiled Region") || text.starts_with("CompiledFunction");
    if (is_graph || (is_region && !around[n].is_graph)) around[n] = {name, is_graph};
  }
  return around;
}

std::string LaunchKey::of(const WorkRow& work) {
  const NodeId launch = model_.links().launch[work.row];
  if (by_ == KernelsBy::stream) return std::to_string(work.stream);
  if (by_ == KernelsBy::stage) return stage(work, launch);
  if (launch == kNoNode) return std::string(without_launch(model_.trace()));
  const NodeId caller = caller_of(model_, work.row);
  switch (by_) {
    case KernelsBy::op: return std::string(op_name(model_, work.row));
    case KernelsBy::shape: return std::string(op_name(model_, work.row)) + shape(op_of(model_, work.row));
    case KernelsBy::annotation: return or_else(name(annotations_->of(launch)), "[no annotation]");
    case KernelsBy::module: return or_else(std::string(model_.locations().module_path(caller)), "[no module]");
    default: {
      const StringId around =
          graphs_[launch.value].name != StringId{} ? graphs_[launch.value].name : graphs_[caller.value].name;
      return or_else(std::string(model_.trace().text(around)), "[not compiled]");
    }
  }
}

// Of a step that reads and makes tokens, kernels of attention may serve the one or the other: their names tell.
std::string LaunchKey::stage(const WorkRow& work, NodeId launch) const {
  const Stage around = steps_.stage_of(launch);
  const bool attention = model_.identities()[work.row].category == Category::attention;
  if (attention && (around == Stage::none || around == Stage::mixed)) {
    const Trace& trace = model_.trace();
    const Stage told = stage_of_kernel(trace.text(trace.events.name(trace.of(EventClass::device_work)[work.row])));
    if (told != Stage::none) return std::string(name_of(told));
  }
  if (launch == kNoNode) return std::string(without_launch(model_.trace()));
  return std::string(name_of(around));
}

std::string LaunchKey::name(NodeId n) const {
  return n == kNoNode ? std::string()
                      : std::string(model_.trace().text(model_.trace().events.name(model_.tree().event[n.value])));
}

std::string LaunchKey::shape(NodeId op) const {
  if (op == kNoNode) return "";
  const auto dims = ops_.input_dims.text(model_.tree().event[op.value]);
  return dims ? " " + std::string(model_.trace().text(*dims)) : "";
}

}  // namespace ridge
