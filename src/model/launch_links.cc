// By correlation in parallel over device work; flows and External ids for what is left.
#include "model/launch_links.h"

#include <unordered_map>

#include "base/in_parallel.h"
#include "model/launch_index.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::size_t kRowsAtOnce = 4096;  // of device work, for one thread
constexpr int kMostLevels = 256;           // up a stack; the ops of a real one are a few dozen

// The start of each ac2g flow, by id, as a host thread and a time. A finish counts only on a device track, which the caller
// knows.
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
    NodeId n = tree_.innermost_at(*thread, time);
    for (int levels = 0; n != kNoNode && tree_.class_of(n) != EventClass::launch; n = tree_.parent[n.value]) {
      if (++levels == kMostLevels) return kNoNode;
    }
    return n;
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

// Work that names no launch at all (hand-made and reduced traces): the op that bears its External id, when only one does.
void link_by_external_id(const DeviceWorkTable& work, const OpTable& op_table, const NodeOfEvent& node_of, LaunchLinks* links) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < work.events.size(); ++row) {
    const EventId event = work.events[row];
    if (links->launch[row] == kNoNode && !work.correlation.integer(event) && work.external_id.integer(event))
      rows.push_back(row);
  }
  if (rows.empty()) return;
  std::unordered_map<std::int64_t, NodeId> ops;  // kNoNode: several bear it
  for (const EventId event : op_table.events) {
    const auto external = op_table.external_id.integer(event);
    if (!external) continue;
    const auto [found, first] = ops.emplace(*external, node_of[event]);
    if (!first) found->second = kNoNode;
  }
  for (const std::size_t row : rows) {
    const auto found = ops.find(*work.external_id.integer(work.events[row]));
    if (found != ops.end()) links->op[row] = found->second;
  }
}

std::vector<bool> find_inherited(const Trace& trace, const std::vector<NodeId>& launch) {
  const std::span<const EventId> work = trace.of(EventClass::device_work);
  std::vector<bool> inherited;
  std::vector<std::int64_t> first_launched(trace.forms.tracks().size(), INT64_MIN);  // by track, which is a stream's
  for (std::size_t row = 0; row < work.size(); ++row) {
    std::int64_t& first = first_launched[trace.track(work[row]).value];
    const std::int64_t start = trace.events.ts_ns(work[row]);
    if (launch[row] != kNoNode && (first == INT64_MIN || start < first)) first = start;
  }
  for (std::size_t row = 0; row < work.size(); ++row) {
    const std::int64_t start = trace.events.ts_ns(work[row]);
    if (launch[row] != kNoNode || start == kNoTime || start >= first_launched[trace.track(work[row]).value]) continue;
    inherited.resize(work.size());
    inherited[row] = true;
  }
  return inherited;
}

}  // namespace

std::vector<EventId> find_launches(const Trace& trace) {
  const DeviceWorkTable work = device_work(trace);
  const LaunchIndex index(trace);
  const DeviceOwners owners = index.is_shared() ? DeviceOwners(trace, work, index) : DeviceOwners();
  std::vector<EventId> found(work.events.size(), kNoEvent);
  for_each_range({trace.events.size()}, found.size(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      const EventId event = work.events[row];
      if (const auto correlation = work.correlation.integer(event))
        found[row] = index.find(*correlation, trace.events.ts_ns(event), owners.of(trace, event));
    }
  });
  return found;
}

LaunchLinks build_launch_links(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of,
                               const std::vector<EventId>& launches) {
  const DeviceWorkTable work = device_work(trace);
  const OpTable op_table = ops(trace);
  LaunchLinks links;
  links.launch.assign(work.events.size(), kNoNode);
  links.op.assign(work.events.size(), kNoNode);
  std::vector<std::size_t> unlinked;
  for (std::size_t row = 0; row < work.events.size(); ++row) {
    if (launches[row] != kNoEvent) links.launch[row] = node_of[launches[row]];
    if (links.launch[row] == kNoNode) unlinked.push_back(row);
  }
  if (!unlinked.empty() && !trace.of(EventClass::flow).empty()) {
    const FlowIndex flow_index(trace, tree);
    for (const std::size_t row : unlinked) links.launch[row] = flow_index.launch_of(work.events[row]);
  }
  const auto link_op = [&](std::size_t row) {
    const NodeId launch = links.launch[row];
    if (launch == kNoNode) return;
    const NodeId innermost = tree.op_of(launch);
    links.op[row] = innermost;
    const auto external = work.external_id.integer(work.events[row]);
    if (!external) return;
    int levels = 0;
    for (NodeId n = innermost; n != kNoNode && levels < kMostLevels; n = tree.op_above(n), ++levels) {
      if (op_table.external_id.integer(tree.event[n.value]) != external) continue;
      links.op[row] = n;
      return;
    }
  };
  for_each_range({trace.events.size()}, work.events.size(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) link_op(row);
  });
  link_by_external_id(work, op_table, node_of, &links);
  links.inherited = find_inherited(trace, links.launch);
  return links;
}

}  // namespace ridge
