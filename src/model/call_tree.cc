// Slices of each track merged from sorted class lists and nested with a stack; ties are ordered by the profiler's counters.
#include "model/call_tree.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/in_parallel.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr EventClass kHostClasses[] = {EventClass::python_frame, EventClass::annotation, EventClass::op, EventClass::launch};
constexpr std::size_t kRanks = std::size(kHostClasses);  // at equal times the outer class first

struct Slice {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

// Order in which a tree is built: outer before inner.
bool outer_first(const Slice& a, const Slice& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

Slice slice_of(const EventTable& events, EventId event) {
  const std::int64_t start = events.ts_ns(event);
  return {start, start + events.dur_ns(event).value_or(0)};
}

bool same_times(const Slice& a, const Slice& b) { return a.start_ns == b.start_ns && a.end_ns == b.end_ns; }

using EventsByTrack = std::vector<std::vector<EventId>>;

// Numbers that the profiler counts up as calls begin: of two that share their times the caller has the smaller one.
constexpr ArgKey kCountedUp[] = {ArgKey::external_id, ArgKey::ev_idx, ArgKey::record_function_id, ArgKey::python_id,
                                 ArgKey::correlation};

// Puts slices of equal times in the order of those numbers, by every one that all of them have. Profilers before PyTorch 2.4
// write whole microseconds, so that a caller and what it calls may not differ in time, and events come in any order. Without
// numbers the file's stays.
class TieOrder {
 public:
  explicit TieOrder(const Trace& trace) : events_(trace.events) {
    for (const ArgKey key : kCountedUp) columns_.emplace_back(trace, key);
  }

  // `at`: the places of events, ascending, that share their times with the one before.
  void apply(std::vector<EventId>* events, const std::vector<std::size_t>& at) const {
    for (std::size_t i = 0; i < at.size();) {
      const std::size_t first = at[i] - 1;
      std::size_t last = at[i] + 1;
      while (++i < at.size() && at[i] == last) ++last;
      order(events->begin() + static_cast<std::ptrdiff_t>(first), events->begin() + static_cast<std::ptrdiff_t>(last));
    }
  }

  std::vector<std::size_t> find(const std::vector<EventId>& events) const {
    std::vector<std::size_t> at;
    for (std::size_t i = 1; i < events.size(); ++i) {
      if (same_times(slice_of(events_, events[i]), slice_of(events_, events[i - 1]))) at.push_back(i);
    }
    return at;
  }

 private:
  using It = std::vector<EventId>::iterator;

  void order(It first, It last) const {
    for (auto column = columns_.rbegin(); column != columns_.rend(); ++column) {  // the first that tells decides: it sorts last
      if (!std::all_of(first, last, [&](EventId e) { return column->integer(e).has_value(); })) continue;
      std::stable_sort(first, last, [&](EventId a, EventId b) { return column->integer(a) < column->integer(b); });
    }
  }

  const EventTable& events_;
  std::vector<ArgColumn> columns_;
};

// The slices of one class, by track, in order. A profiler writes each class nearly sorted: what is not is sorted here.
EventsByTrack slices_by_track(const Trace& trace, EventClass event_class, const std::vector<std::uint32_t>& track_of_form) {
  const EventTable& table = trace.events;
  const auto track_of = [&](EventId event) { return track_of_form[table.form(event).value]; };
  std::vector<std::size_t> counts(trace.forms.tracks().size());
  for (const EventId event : trace.of(event_class)) ++counts[track_of(event)];
  EventsByTrack events(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) events[i].reserve(counts[i]);
  struct Last {
    Slice slice{kNoTime, 0};
    bool unsorted = false;
    std::vector<std::size_t> ties = {};
  };
  std::vector<Last> last(counts.size());
  for (const EventId event : trace.of(event_class)) {
    const std::int64_t start = table.ts_ns(event);
    const auto dur = table.dur_ns(event);
    if (start == kNoTime || !dur) continue;
    const std::uint32_t track = track_of(event);
    const Slice slice{start, start + *dur};
    if (outer_first(slice, last[track].slice)) last[track].unsorted = true;
    if (same_times(slice, last[track].slice)) last[track].ties.push_back(events[track].size());
    last[track].slice = slice;
    events[track].push_back(event);
  }
  std::optional<TieOrder> ties;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!last[i].unsorted && last[i].ties.empty()) continue;
    if (!ties) ties.emplace(trace);
    if (last[i].unsorted) {
      std::stable_sort(events[i].begin(), events[i].end(),
                       [&](EventId a, EventId b) { return outer_first(slice_of(table, a), slice_of(table, b)); });
      last[i].ties = ties->find(events[i]);
    }
    ties->apply(&events[i], last[i].ties);
  }
  return events;
}

// The slices of one track, class by class, taken in the order of the tree.
class Merge {
 public:
  struct Taken {
    Slice slice;
    EventId event;
    std::size_t rank;
  };

  explicit Merge(const Trace& trace) : events_(trace.events) {}
  void add(std::span<const EventId> events, std::size_t rank) {
    if (events.empty()) return;
    heads_[count_++] = {slice_of(events_, events.front()), events.data(), events.data() + events.size(), rank};
  }
  bool empty() const { return count_ == 0; }
  Taken take() {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count_; ++i) {  // heads stand in order of rank: an equal one must not win
      if (outer_first(heads_[i].slice, heads_[best].slice)) best = i;
    }
    Head& head = heads_[best];
    const Taken taken{head.slice, *head.next, head.rank};
    if (++head.next != head.end) {
      head.slice = slice_of(events_, *head.next);
    } else {
      --count_;
      std::copy(heads_ + best + 1, heads_ + count_ + 1, heads_ + best);
    }
    return taken;
  }

 private:
  struct Head {
    Slice slice;
    const EventId* next;
    const EventId* end;
    std::size_t rank;
  };

  const EventTable& events_;
  Head heads_[kRanks] = {};
  std::size_t count_ = 0;
};

constexpr std::size_t kNodesAtOnce = std::size_t{64} << 10;

// How far apart rungs are, in levels: short and long ones. Ordinary stacks have none.
constexpr std::size_t kShortRung = 64;
constexpr std::size_t kLongRung = kShortRung * kShortRung;

// What is known of a thread beside its nodes.
struct Nested {
  std::int64_t overlaps = 0;  // slices that overlap without nesting
  std::vector<CallTree::Rung> rungs;
};

// Writes the nodes of one thread at `first`.
Nested nest(Merge merge, std::uint32_t first, CallTree* tree) {
  Nested nested;
  struct Open {
    std::int64_t end_ns;
    std::uint32_t node;
  };
  std::vector<Open> open;  // around the current slice, outermost first; their ends descend
  for (std::uint32_t node = first; !merge.empty(); ++node) {
    auto [slice, event, rank] = merge.take();
    while (!open.empty() && open.back().end_ns <= slice.start_ns && open.back().end_ns < slice.end_ns) open.pop_back();
    if (!open.empty() && open.back().end_ns < slice.end_ns) {
      ++nested.overlaps;
      // A frame whose return was not recorded goes on to the end of the trace: it is over when what is around it is. Of other
      // slices, those that end earlier are done: what starts inside both lies in this one.
      if (kHostClasses[rank] == EventClass::python_frame) slice.end_ns = open.back().end_ns;
      while (!open.empty() && open.back().end_ns < slice.end_ns) open.pop_back();
    }
    tree->event[node] = event;
    tree->parent[node] = open.empty() ? kNoNode : NodeId{open.back().node};
    tree->start_ns[node] = slice.start_ns;
    tree->end_ns[node] = slice.end_ns;
    tree->event_class[node] = kHostClasses[rank];
    tree->op[node] = kHostClasses[rank] == EventClass::op ? NodeId{node} : tree->op_of(tree->parent[node]);
    open.push_back({slice.end_ns, node});
    const std::size_t depth = open.size() - 1;
    if (depth % kShortRung == 0 && depth != 0) {
      const std::size_t levels = depth % kLongRung == 0 ? kLongRung : kShortRung;
      nested.rungs.push_back({node, open[depth - levels].node});
    }
  }
  return nested;
}

void add_borrowed(const Trace& trace, const BorrowedCalls& borrowed, CallTree* tree) {
  const std::uint32_t first = tree->recorded;
  const std::size_t size = first + borrowed.nodes.size();
  tree->event.resize(size);
  tree->parent.resize(size);
  tree->start_ns.resize(size);
  tree->end_ns.resize(size);
  tree->event_class.resize(size);
  tree->op.resize(size);
  for (std::uint32_t i = 0; i < borrowed.nodes.size(); ++i) {
    const BorrowedCalls::Node& node = borrowed.nodes[i];
    const std::uint32_t n = first + i;
    const NodeId parent = node.parent == BorrowedCalls::kNone ? kNoNode : NodeId{first + node.parent};
    tree->event[n] = node.event;
    tree->parent[n] = parent;
    const Slice slice = slice_of(trace.events, node.event);
    tree->start_ns[n] = slice.start_ns;
    tree->end_ns[n] = slice.end_ns;
    tree->event_class[n] = trace.kind(node.event).event_class;
    tree->op[n] = tree->event_class[n] == EventClass::op ? NodeId{n} : tree->op_of(parent);
  }
}

}  // namespace

CallTree build_call_tree(const Trace& trace) {
  const JobSize job{trace.events.size()};
  std::vector<std::uint32_t> track_of_form;
  for (const Form& form : trace.forms.forms()) track_of_form.push_back(form.track.value);
  EventsByTrack slices[kRanks];
  for_each_index(job, kRanks,
                 [&](std::size_t rank) { slices[rank] = slices_by_track(trace, kHostClasses[rank], track_of_form); });
  CallTree tree;
  std::uint32_t size = 0;
  for (std::size_t track = 0; track < trace.forms.tracks().size(); ++track) {
    std::size_t count = 0;
    for (const auto& by_track : slices) count += by_track[track].size();
    if (count == 0) continue;
    tree.threads.push_back({TrackId{track}, size, static_cast<std::uint32_t>(count)});
    size += static_cast<std::uint32_t>(count);
  }
  tree.event.resize(size);
  tree.parent.resize(size);
  tree.start_ns.resize(size);
  tree.end_ns.resize(size);
  tree.event_class.resize(size);
  tree.op.resize(size);
  std::vector<Nested> nested(tree.threads.size());
  for_each_index(job, tree.threads.size(), [&](std::size_t t) {
    Merge merge(trace);
    for (std::size_t rank = 0; rank < kRanks; ++rank) merge.add(slices[rank][tree.threads[t].track.value], rank);
    nested[t] = nest(merge, tree.threads[t].first, &tree);
  });
  for (const Nested& thread : nested) {
    tree.overlaps += thread.overlaps;
    tree.rungs.insert(tree.rungs.end(), thread.rungs.begin(), thread.rungs.end());
  }
  tree.recorded = size;
  if (trace.borrowed) add_borrowed(trace, *trace.borrowed, &tree);
  return tree;
}

NodeId CallTree::innermost_at(const HostThread& thread, std::int64_t time_ns) const {
  const auto begin = start_ns.begin() + thread.first;
  const auto it = std::upper_bound(begin, begin + thread.count, time_ns);
  if (it == begin) return kNoNode;
  NodeId n{static_cast<std::uint32_t>(it - start_ns.begin() - 1)};
  // A child lies inside its parent: where one far above is over, all between are.
  for (std::size_t steps = 0; n != kNoNode && end_ns[n.value] <= time_ns; ++steps) {
    const Rung* rung = steps < kShortRung ? nullptr : rung_at(n);
    n = rung != nullptr && end_ns[rung->above] <= time_ns ? NodeId{rung->above} : parent[n.value];
  }
  return n;
}

const CallTree::Rung* CallTree::rung_at(NodeId n) const {
  const auto it =
      std::lower_bound(rungs.begin(), rungs.end(), n.value, [](const Rung& r, std::uint32_t node) { return r.node < node; });
  return it != rungs.end() && it->node == n.value ? &*it : nullptr;
}

const HostThread* CallTree::thread_of(TrackId track) const {
  const auto it =
      std::lower_bound(threads.begin(), threads.end(), track, [](const HostThread& t, TrackId id) { return t.track < id; });
  return it != threads.end() && it->track == track ? &*it : nullptr;
}

std::size_t thread_of(const CallTree& tree, NodeId node) {
  const auto after = std::upper_bound(tree.threads.begin(), tree.threads.end(), node.value,
                                      [](std::uint32_t n, const HostThread& t) { return n < t.first; });
  return static_cast<std::size_t>(after - tree.threads.begin()) - 1;
}

NodeId find_node(const Trace& trace, const CallTree& tree, EventId event) {
  const HostThread* thread = tree.thread_of(trace.track(event));
  if (thread == nullptr) return kNoNode;
  const std::int64_t start = trace.events.ts_ns(event);
  const auto begin = tree.start_ns.begin() + thread->first, end = begin + thread->count;
  for (auto it = std::lower_bound(begin, end, start); it != end && *it == start; ++it) {
    const auto n = static_cast<std::uint32_t>(it - tree.start_ns.begin());
    if (tree.event[n] == event) return NodeId{n};
  }
  return kNoNode;
}

NodeOfEvent::NodeOfEvent(const Trace& trace, const CallTree& tree) {
  const JobSize job{trace.events.size()};
  node_.resize(trace.events.size());
  const auto nobody = [&](std::size_t first, std::size_t last) {
    std::fill(node_.data() + first, node_.data() + last, kNoNode.value);
  };
  const auto own = [&](std::size_t first, std::size_t last) {  // no two nodes share an event
    for (std::size_t n = first; n < last; ++n) node_[tree.event[n].value] = static_cast<std::uint32_t>(n);
  };
  for_each_range(job, node_.size(), kNodesAtOnce, nobody);
  for_each_range(job, tree.size(), kNodesAtOnce, own);
}

}  // namespace ridge
