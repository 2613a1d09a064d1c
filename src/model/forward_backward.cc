#include "model/forward_backward.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "trace/tables.h"

namespace ridge {
namespace {

// The op of a thread that starts at exactly that time, the innermost of several.
NodeId op_at(const Trace& trace, const CallTree& tree, EventId flow) {
  const HostThread* thread = tree.thread_of(trace.track(flow));
  if (thread == nullptr) return kNoNode;
  const std::int64_t time = trace.events.ts_ns(flow);
  const auto begin = tree.start_ns.begin() + thread->first;
  auto it = std::upper_bound(begin, begin + thread->count, time);
  for (; it != begin && *(it - 1) == time; --it) {
    const NodeId node{static_cast<std::uint32_t>(it - 1 - tree.start_ns.begin())};
    if (tree.class_of(node) == EventClass::op) return node;
  }
  return kNoNode;
}

void add_flows(const Trace& trace, const CallTree& tree, std::vector<ForwardBackward::Link>* links) {
  const FlowTable table = flows(trace);
  std::unordered_map<std::int64_t, ForwardBackward::Link> by_id;
  for (const EventId event : table.events) {
    const std::string_view cat = trace.text(trace.kind(event).cat);
    if (cat != "fwdbwd" && cat != "forward_backward") continue;
    const auto id = table.id.integer(event);
    if (!id) continue;
    auto& link = by_id.try_emplace(*id, ForwardBackward::Link{kNoNode, kNoNode}).first->second;
    (trace.kind(event).phase == 's' ? link.forward : link.backward) = op_at(trace, tree, event);
  }
  for (const auto& [id, link] : by_id) {
    if (link.forward != kNoNode && link.backward != kNoNode) links->push_back(link);
  }
}

// A backward op bears the number of its forward op and the (internal) id of the forward thread, which is above 0. Several nested forward ops
// can bear one number: the last to start before the backward op made the graph's node.
void add_sequence_numbers(const Trace& trace, const NodeOfEvent& node_of, std::vector<ForwardBackward::Link>* links) {
  const OpTable table = ops(trace);
  struct Op {
    std::int64_t number;
    std::int64_t start_ns;
    NodeId node;
    bool backward;
  };
  std::vector<Op> list;
  for (const EventId event : table.events) {
    const auto number = table.sequence_number.integer(event);
    if (!number || *number < 0 || node_of[event] == kNoNode) continue;
    const bool backward = table.fwd_thread_id.integer(event).value_or(0) > 0;
    list.push_back({*number, trace.events.ts_ns(event), node_of[event], backward});
  }
  std::sort(list.begin(), list.end(), [](const Op& a, const Op& b) {
    return std::tuple(a.number, a.start_ns, a.node) < std::tuple(b.number, b.start_ns, b.node);
  });
  NodeId forward = kNoNode;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == 0 || list[i].number != list[i - 1].number) forward = kNoNode;
    if (!list[i].backward) {
      forward = list[i].node;
    } else if (forward != kNoNode) {
      links->push_back({list[i].node, forward});
    }
  }
}

}  // namespace

NodeId ForwardBackward::forward_of(NodeId backward) const {
  const auto it =
      std::lower_bound(links.begin(), links.end(), backward, [](const Link& link, NodeId n) { return link.backward < n; });
  return it != links.end() && it->backward == backward ? it->forward : kNoNode;
}

ForwardBackward build_forward_backward(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of) {
  ForwardBackward result;
  add_flows(trace, tree, &result.links);
  const std::size_t from_flows = result.links.size();
  add_sequence_numbers(trace, node_of, &result.links);
  // A stable order in which a flow's link stands before one by number.
  const auto flows_end = result.links.begin() + static_cast<std::ptrdiff_t>(from_flows);
  const auto earlier = [](const ForwardBackward::Link& a, const ForwardBackward::Link& b) {
    return std::pair(a.backward, a.forward) < std::pair(b.backward, b.forward);
  };
  std::sort(result.links.begin(), flows_end, earlier);
  std::stable_sort(result.links.begin(), result.links.end(),
                   [](const auto& a, const auto& b) { return a.backward < b.backward; });
  const auto same = [](const auto& a, const auto& b) { return a.backward == b.backward; };
  result.links.erase(std::unique(result.links.begin(), result.links.end(), same), result.links.end());
  return result;
}

}  // namespace ridge
