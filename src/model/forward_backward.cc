// Flows looked up by thread and time, then sequence numbers for what no flow links.
#include "model/forward_backward.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "trace/tables.h"

namespace ridge {
namespace {

// Finds ops by thread and exact time of start. Questions mostly come in order of time: each search begins where the last one
// ended.
class OpFinder {
 public:
  OpFinder(const Trace& trace, const CallTree& tree) : trace_(trace), tree_(tree), last_(tree.threads.size()) {}

  // The op of the flow's thread that starts at its time, the innermost of several.
  NodeId at(EventId flow) {
    const HostThread* thread = tree_.thread_of(trace_.track(flow));
    if (thread == nullptr) return kNoNode;
    const std::int64_t time = trace_.events.ts_ns(flow);
    const std::int64_t* begin = tree_.start_ns.data() + thread->first;
    std::size_t& last = last_[static_cast<std::size_t>(thread - tree_.threads.data())];
    last = upper_bound_near(begin, thread->count, last, time);
    for (std::size_t i = last; i != 0 && begin[i - 1] == time; --i) {
      const NodeId node{static_cast<std::uint32_t>(thread->first + i - 1)};
      if (tree_.class_of(node) == EventClass::op) return node;
    }
    return kNoNode;
  }

 private:
  // The first of `count` ascending values above `value`, searched outwards from `near`.
  static std::size_t upper_bound_near(const std::int64_t* values, std::size_t count, std::size_t near, std::int64_t value) {
    std::size_t low = std::min(near, count), high = low, step = 1;
    if (low < count && values[low] <= value) {
      while (high < count && values[high] <= value) {
        low = high;
        high = std::min(count, high + step);
        step *= 2;
      }
    } else {
      while (low > 0 && values[low - 1] > value) {
        high = low - 1;
        low = low > step ? low - step : 0;
        step *= 2;
      }
    }
    return static_cast<std::size_t>(std::upper_bound(values + low, values + high, value) - values);
  }

  const Trace& trace_;
  const CallTree& tree_;
  std::vector<std::size_t> last_;  // by thread
};

void add_flows(const Trace& trace, const CallTree& tree, std::vector<ForwardBackward::Link>* links) {
  const FlowTable table = flows(trace);
  std::vector<bool> is_fwdbwd;  // by form
  for (const Form& form : trace.forms.forms()) {
    const std::string_view cat = trace.text(trace.forms.kinds()[form.kind.value].cat);
    is_fwdbwd.push_back(cat == "fwdbwd" || cat == "forward_backward");
  }
  OpFinder ops(trace, tree);
  std::unordered_map<std::int64_t, ForwardBackward::Link> by_id;
  for (const EventId event : table.events) {
    if (!is_fwdbwd[trace.events.form(event).value]) continue;
    const auto id = table.id.integer(event);
    if (!id) continue;
    auto& link = by_id.try_emplace(*id, ForwardBackward::Link{kNoNode, kNoNode}).first->second;
    (trace.kind(event).phase == 's' ? link.forward : link.backward) = ops.at(event);
  }
  for (const auto& [id, link] : by_id) {
    if (link.forward != kNoNode && link.backward != kNoNode) links->push_back(link);
  }
}

// A backward op bears the number of its forward op and the (internal) id of the forward thread, which is above 0. Several
// nested forward ops can bear one number: the last to start before the backward op made the graph's node. Only for those that
// no flow has linked.
void add_sequence_numbers(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of,
                          std::vector<ForwardBackward::Link>* links) {
  const OpTable table = ops(trace);
  struct Op {
    std::int64_t number;
    std::int64_t start_ns;
    NodeId node;
    bool backward;
  };
  std::vector<bool> linked(tree.size());
  for (const ForwardBackward::Link& link : *links) linked[link.backward.value] = true;
  std::vector<Op> list;
  std::unordered_set<std::int64_t> wanted;
  for (const EventId event : table.events) {
    const auto number = table.sequence_number.integer(event);
    if (!number || *number < 0 || node_of[event] == kNoNode) continue;
    const bool backward = table.fwd_thread_id.integer(event).value_or(0) > 0;
    list.push_back({*number, trace.events.ts_ns(event), node_of[event], backward});
    if (backward && !linked[node_of[event].value]) wanted.insert(*number);
  }
  if (wanted.empty()) return;
  std::erase_if(list, [&](const Op& op) { return !wanted.contains(op.number); });
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
  add_sequence_numbers(trace, tree, node_of, &result.links);
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
