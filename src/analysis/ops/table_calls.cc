// One pass down the tree for the call above each node, one over the calls for those that are an only child.
#include "analysis/ops/table_calls.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ridge {
namespace {

constexpr std::string_view kUtilityOps[] = {"profiler::_record_function_enter",
                                            "profiler::_record_function_enter_new",
                                            "profiler::_record_function_exit",
                                            "aten::is_leaf",
                                            "aten::output_nr",
                                            "aten::_version"};

std::vector<bool> utility_names(const Trace& trace) {
  std::vector<bool> found(trace.strings.size());
  for (std::uint32_t i = 0; i < found.size(); ++i)
    found[i] = std::ranges::find(kUtilityOps, trace.strings.at(StringId{i})) != std::end(kUtilityOps);
  return found;
}

}  // namespace

TableCalls::TableCalls(const Trace& trace, const CallTree& tree)
    : tree_(tree), is_call_(tree.size()), is_merged_(tree.size()), at_or_above_(tree.size(), kNoNode) {
  const std::vector<bool> is_utility = utility_names(trace);
  const auto name = [&](NodeId n) { return trace.events.name(tree.event[n.value]); };
  const auto counts = [&](NodeId n) {
    const EventClass c = tree.class_of(n);
    return c == EventClass::op ? !is_utility[name(n).value] : c == EventClass::annotation || c == EventClass::launch;
  };
  std::vector<std::uint32_t> children(tree.size());
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId n{i};
    const NodeId caller = above(n);
    is_call_[i] = counts(n);
    at_or_above_[i] = is_call_[i] ? n : caller;
    if (is_call_[i] && caller != kNoNode) ++children[caller.value];
  }
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId caller = above(NodeId{i});
    if (!is_call_[i] || caller == kNoNode || children[caller.value] != 1) continue;
    const bool both_ops = tree.event_class[i] == EventClass::op && tree.class_of(caller) == EventClass::op;
    is_merged_[i] = both_ops && name(NodeId{i}) == name(caller);
  }
}

NodeId TableCalls::above(NodeId n) const {
  const NodeId parent = tree_.parent[n.value];
  return parent == kNoNode ? kNoNode : at_or_above_[parent.value];
}

}  // namespace ridge
