#include "model/launch_links.h"

#include <algorithm>
#include <unordered_map>

#include "trace/tables.h"

namespace ridge {
namespace {

// Launches by correlation. Several processes in one trace may use one number twice: the launch nearest before the work counts.
class LaunchIndex {
 public:
  LaunchIndex(const Trace& trace, const NodeOfEvent& node_of) {
    const LaunchTable table = launches(trace);
    entries_.reserve(table.events.size());
    for (const EventId event : table.events) {
      const auto correlation = table.correlation.integer(event);
      if (!correlation || *correlation == 0 || node_of[event] == kNoNode) continue;
      entries_.push_back({*correlation, trace.events.ts_ns(event), node_of[event]});
    }
    if (!std::is_sorted(entries_.begin(), entries_.end(), before)) std::sort(entries_.begin(), entries_.end(), before);
  }

  NodeId find(std::int64_t correlation, std::int64_t start_ns) const {
    const auto [from, to] = std::equal_range(entries_.begin(), entries_.end(), Entry{correlation, 0, kNoNode},
                                             [](const Entry& a, const Entry& b) { return a.correlation < b.correlation; });
    NodeId found = kNoNode;
    for (auto it = from; it != to && (found == kNoNode || it->start_ns <= start_ns); ++it) found = it->node;
    return found;
  }

 private:
  struct Entry {
    std::int64_t correlation;
    std::int64_t start_ns;
    NodeId node;
  };
  static bool before(const Entry& a, const Entry& b) {
    return std::pair(a.correlation, a.start_ns) < std::pair(b.correlation, b.start_ns);
  }
  std::vector<Entry> entries_;
};

// The start of each ac2g flow, by id, as a host thread and a time. A finish counts only on a device track, which the caller knows.
class FlowIndex {
 public:
  FlowIndex(const Trace& trace, const CallTree& tree) : trace_(trace), tree_(tree), table_(flows(trace)) {
    for (const EventId event : table_.events) {
      const std::string_view cat = trace.text(trace.kind(event).cat);
      if (cat != "ac2g" && cat != "async_cpu_to_gpu") continue;
      const auto id = table_.id.integer(event);
      if (!id) continue;
      if (trace.kind(event).phase == 's') starts_[*id] = event;
      if (trace.kind(event).phase == 'f') finishes_[{trace.track(event).value, trace.events.ts_ns(event)}] = *id;
    }
  }

  NodeId launch_of(EventId work) const {
    const auto finish = finishes_.find({trace_.track(work).value, trace_.events.ts_ns(work)});
    if (finish == finishes_.end()) return kNoNode;
    const auto start = starts_.find(finish->second);
    if (start == starts_.end()) return kNoNode;
    const HostThread* thread = tree_.thread_of(trace_.track(start->second));
    if (thread == nullptr) return kNoNode;
    const std::int64_t time = trace_.events.ts_ns(start->second);
    return tree_.nearest(tree_.innermost_at(*thread, time), EventClass::launch);
  }

 private:
  struct Hash {
    std::size_t operator()(const std::pair<std::uint32_t, std::int64_t>& p) const {
      return (static_cast<std::size_t>(p.second) * 0x9E3779B97F4A7C15) ^ p.first;
    }
  };
  const Trace& trace_;
  const CallTree& tree_;
  FlowTable table_;
  std::unordered_map<std::int64_t, EventId> starts_;
  std::unordered_map<std::pair<std::uint32_t, std::int64_t>, std::int64_t, Hash> finishes_;
};

}  // namespace

LaunchLinks build_launch_links(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of) {
  const DeviceWorkTable work = device_work(trace);
  const OpTable op_table = ops(trace);
  LaunchLinks links;
  links.launch.assign(work.events.size(), kNoNode);
  links.op.assign(work.events.size(), kNoNode);
  const LaunchIndex index(trace, node_of);
  std::vector<std::size_t> unlinked;
  for (std::size_t row = 0; row < work.events.size(); ++row) {
    const EventId event = work.events[row];
    if (const auto correlation = work.correlation.integer(event))
      links.launch[row] = index.find(*correlation, trace.events.ts_ns(event));
    if (links.launch[row] == kNoNode) unlinked.push_back(row);
  }
  if (!unlinked.empty() && !trace.of(EventClass::flow).empty()) {
    const FlowIndex flow_index(trace, tree);
    for (const std::size_t row : unlinked) links.launch[row] = flow_index.launch_of(work.events[row]);
  }
  for (std::size_t row = 0; row < work.events.size(); ++row) {
    const NodeId launch = links.launch[row];
    if (launch == kNoNode) continue;
    const NodeId innermost = tree.nearest(launch, EventClass::op);
    links.op[row] = innermost;
    const auto external = work.external_id.integer(work.events[row]);
    if (!external) continue;
    for (NodeId n = innermost; n != kNoNode; n = tree.nearest(tree.parent[n.value], EventClass::op)) {
      if (op_table.external_id.integer(tree.event[n.value]) == external) {
        links.op[row] = n;
        break;
      }
    }
  }
  return links;
}

}  // namespace ridge
