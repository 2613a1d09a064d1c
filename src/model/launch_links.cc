// A hash index over correlations, in parallel over device work; flows and External ids for what is left.
#include "model/launch_links.h"

#include <algorithm>
#include <bit>
#include <random>
#include <unordered_map>

#include "base/hash.h"
#include "base/in_parallel.h"
#include "base/work_count.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::size_t kRowsAtOnce = 4096;  // of device work, for one thread
constexpr int kMostLevels = 256;           // up a stack; the ops of a real one are a few dozen

// Launches by correlation. Several processes in one trace may use one number twice: the launch nearest before the work counts.
class LaunchIndex {
 public:
  explicit LaunchIndex(const Trace& trace) : trace_(trace) {
    const LaunchTable table = launches(trace);
    entries_.reserve(table.events.size());
    for (const EventId event : table.events) {
      const auto correlation = table.correlation.integer(event);
      if (correlation && *correlation != 0 && trace.events.ts_ns(event) != kNoTime && trace.events.dur_ns(event))
        entries_.push_back({*correlation, event, kNone});
    }
    index();
    sort_if_crowded();
  }

  // kNoEvent when there is none.
  EventId find(std::int64_t correlation, std::int64_t start_ns) const {
    if (!sorted_.empty()) return find_sorted(correlation, start_ns);
    Best best;
    for (std::uint32_t i = first_[bucket(correlation)]; i != kNone; i = entries_[i].next) {
      count_work(1);
      if (entries_[i].correlation == correlation) consider(entries_[i], start_ns, &best);
    }
    return best.event;
  }

 private:
  struct Entry {
    std::int64_t correlation;
    EventId event;
    std::uint32_t next;  // in the same bucket
  };
  struct Best {
    EventId event = kNoEvent;
    std::int64_t start_ns = 0;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // The latest that starts no later than the work; the earliest when all start later.
  void consider(const Entry& entry, std::int64_t start_ns, Best* best) const {
    const std::int64_t start = trace_.events.ts_ns(entry.event);
    const bool first = best->event == kNoEvent;
    const bool best_is_late = !first && best->start_ns > start_ns;
    const bool better = start > start_ns ? best_is_late && start < best->start_ns : best_is_late || start >= best->start_ns;
    if (first || better) *best = {entry.event, start};
  }

  // A profiler counts correlations up: 16 neighbours share a line of the table. The seed keeps a file from choosing its
  // collisions.
  std::size_t bucket(std::int64_t correlation) const {
    const auto number = static_cast<std::uint64_t>(correlation);
    return ((mix64(number >> 4, seed_) << 4) | (number & 15)) & (first_.size() - 1);
  }

  void index() {
    first_.assign(std::bit_ceil(std::max<std::size_t>(entries_.size() * 2, 16)), kNone);
    for (std::size_t i = entries_.size(); i-- > 0;) {
      std::uint32_t& first = first_[bucket(entries_[i].correlation)];
      entries_[i].next = first;
      first = static_cast<std::uint32_t>(i);
    }
  }

  // Where one number is used again and again, chains would be walked again and again: all are sorted instead.
  void sort_if_crowded() {
    std::vector<std::uint8_t> crowd(first_.size());
    for (const Entry& entry : entries_) {
      if (++crowd[bucket(entry.correlation)] < kMostInBucket) continue;
      for (const Entry& each : entries_) sorted_.push_back({each.correlation, trace_.events.ts_ns(each.event), each.event});
      std::sort(sorted_.begin(), sorted_.end());
      return;
    }
  }

  EventId find_sorted(std::int64_t correlation, std::int64_t start_ns) const {
    const Sorted wanted{correlation, start_ns, kNoEvent};
    const auto after = std::upper_bound(sorted_.begin(), sorted_.end(), wanted);
    count_work(std::bit_width(sorted_.size()));
    if (after != sorted_.begin() && (after - 1)->correlation == correlation) return (after - 1)->event;
    return after != sorted_.end() && after->correlation == correlation ? after->event : kNoEvent;
  }

  struct Sorted {
    std::int64_t correlation;
    std::int64_t start_ns;
    EventId event;
    auto operator<=>(const Sorted&) const = default;
  };
  static constexpr std::uint8_t kMostInBucket = 64;

  const Trace& trace_;
  const std::uint64_t seed_ = std::random_device{}() | 1;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_;  // by bucket
  std::vector<Sorted> sorted_;        // empty: not crowded
};

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
  std::vector<EventId> found(work.events.size(), kNoEvent);
  for_each_range({trace.events.size()}, found.size(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      const EventId event = work.events[row];
      if (const auto correlation = work.correlation.integer(event))
        found[row] = index.find(*correlation, trace.events.ts_ns(event));
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
