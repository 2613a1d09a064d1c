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
    index_densely();
  }

  NodeId find(std::int64_t correlation, std::int64_t start_ns) const {
    NodeId found = kNoNode;
    for (std::size_t i = first(correlation); i < entries_.size() && entries_[i].correlation == correlation; ++i) {
      if (found != kNoNode && entries_[i].start_ns > start_ns) break;
      found = entries_[i].node;
    }
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

  // A profiler counts correlations up: where they lie close together, each one's first entry is looked up in a table.
  void index_densely() {
    if (entries_.empty()) return;
    const std::uint64_t range =
        static_cast<std::uint64_t>(entries_.back().correlation) - static_cast<std::uint64_t>(entries_.front().correlation);
    if (range > entries_.size() * 8) return;
    first_.assign(range + 1, static_cast<std::uint32_t>(entries_.size()));
    for (std::size_t i = entries_.size(); i-- > 0;) {
      first_[static_cast<std::size_t>(entries_[i].correlation - entries_.front().correlation)] = static_cast<std::uint32_t>(i);
    }
  }

  std::size_t first(std::int64_t correlation) const {
    if (first_.empty()) {
      const auto it = std::lower_bound(entries_.begin(), entries_.end(), correlation,
                                       [](const Entry& a, std::int64_t wanted) { return a.correlation < wanted; });
      return static_cast<std::size_t>(it - entries_.begin());
    }
    const std::uint64_t at = static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(entries_.front().correlation);
    return at < first_.size() ? first_[at] : entries_.size();
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  // by correlation, from the smallest; empty when they are far apart
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
