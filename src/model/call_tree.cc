#include "model/call_tree.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include <tbb/parallel_for.h>

namespace ridge {
namespace {

constexpr EventClass kHostClasses[] = {EventClass::python_frame, EventClass::annotation, EventClass::op, EventClass::launch};

struct Slice {
  std::int64_t start_ns;
  std::int64_t end_ns;
  EventId event;
  std::uint8_t rank;  // of its class above: at equal times the outer one first

  // Order in which a tree is built: outer before inner.
  bool operator<(const Slice& other) const {
    if (start_ns != other.start_ns) return start_ns < other.start_ns;
    return std::tuple(-end_ns, rank, event) < std::tuple(-other.end_ns, other.rank, other.event);
  }
};

// Sorts slices that mostly come in order: finds the runs that already ascend and merges neighbours. n log(runs).
void sort_by_runs(std::vector<Slice>* slices) {
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < slices->size(); ++i) {
    if ((*slices)[i] < (*slices)[i - 1]) bounds.push_back(i);
  }
  bounds.push_back(slices->size());
  if (bounds.size() > slices->size() / 8 + 3) {
    std::sort(slices->begin(), slices->end());
    return;
  }
  std::vector<Slice> merged;
  while (bounds.size() > 2) {
    merged.clear();
    merged.reserve(slices->size());
    std::vector<std::size_t> next{0};
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
      const auto at = [&](std::size_t b) {
        return slices->begin() + static_cast<std::ptrdiff_t>(bounds[std::min(b, bounds.size() - 1)]);
      };
      std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), std::back_inserter(merged));
      next.push_back(merged.size());
    }
    slices->swap(merged);
    bounds.swap(next);
  }
}

std::vector<std::vector<Slice>> slices_by_track(const Trace& trace) {
  std::vector<std::uint32_t> track_of_form;
  for (const Form& form : trace.forms.forms()) track_of_form.push_back(form.track.value);
  const auto track_of = [&](EventId event) { return track_of_form[trace.events.form(event).value]; };
  std::vector<std::size_t> counts(trace.forms.tracks().size());
  for (const EventClass c : kHostClasses) {
    for (const EventId event : trace.of(c)) ++counts[track_of(event)];
  }
  std::vector<std::vector<Slice>> slices(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) slices[i].reserve(counts[i]);
  for (std::uint8_t rank = 0; rank < std::size(kHostClasses); ++rank) {
    for (const EventId event : trace.of(kHostClasses[rank])) {
      const std::int64_t ts = trace.events.ts_ns(event);
      const auto dur = trace.events.dur_ns(event);
      if (ts != kNoTime && dur) slices[track_of(event)].push_back({ts, ts + *dur, event, rank});
    }
  }
  return slices;
}

// Writes the nodes of one thread at `first`; returns how many slices overlap without nesting.
std::int64_t nest(const std::vector<Slice>& slices, std::uint32_t first, CallTree* tree) {
  std::int64_t overlaps = 0;
  std::vector<std::uint32_t> open;  // around the current slice, outermost first; their ends descend
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const Slice& slice = slices[i];
    const auto end_of = [&](std::uint32_t n) { return tree->end_ns[n]; };
    while (!open.empty() && end_of(open.back()) <= slice.start_ns && end_of(open.back()) < slice.end_ns) open.pop_back();
    if (!open.empty() && end_of(open.back()) < slice.end_ns) {
      ++overlaps;
      // What starts inside both lies in this one: those that end earlier are done.
      while (!open.empty() && end_of(open.back()) < slice.end_ns) open.pop_back();
    }
    const std::uint32_t node = first + i;
    tree->event[node] = slice.event;
    tree->parent[node] = open.empty() ? kNoNode : NodeId{open.back()};
    tree->start_ns[node] = slice.start_ns;
    tree->end_ns[node] = slice.end_ns;
    tree->event_class[node] = kHostClasses[slice.rank];
    open.push_back(node);
  }
  return overlaps;
}

}  // namespace

CallTree build_call_tree(const Trace& trace) {
  std::vector<std::vector<Slice>> slices = slices_by_track(trace);
  CallTree tree;
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].empty()) continue;
    tree.threads.push_back({TrackId{i}, size, static_cast<std::uint32_t>(slices[i].size())});
    size += static_cast<std::uint32_t>(slices[i].size());
  }
  tree.event.resize(size);
  tree.parent.resize(size);
  tree.start_ns.resize(size);
  tree.end_ns.resize(size);
  tree.event_class.resize(size);
  std::vector<std::int64_t> overlaps(tree.threads.size());
  tbb::parallel_for(std::size_t{0}, tree.threads.size(), [&](std::size_t t) {
    std::vector<Slice>& mine = slices[tree.threads[t].track.value];
    sort_by_runs(&mine);
    overlaps[t] = nest(mine, tree.threads[t].first, &tree);
    mine = {};
  });
  for (const std::int64_t n : overlaps) tree.overlaps += n;
  return tree;
}

NodeId CallTree::innermost_at(const HostThread& thread, std::int64_t time_ns) const {
  const auto begin = start_ns.begin() + thread.first;
  const auto it = std::upper_bound(begin, begin + thread.count, time_ns);
  if (it == begin) return kNoNode;
  NodeId n{static_cast<std::uint32_t>(it - start_ns.begin() - 1)};
  while (n != kNoNode && end_ns[n.value] <= time_ns) n = parent[n.value];
  return n;
}

const HostThread* CallTree::thread_of(TrackId track) const {
  const auto it =
      std::lower_bound(threads.begin(), threads.end(), track, [](const HostThread& t, TrackId id) { return t.track < id; });
  return it != threads.end() && it->track == track ? &*it : nullptr;
}

NodeOfEvent::NodeOfEvent(const Trace& trace, const CallTree& tree) : node_(trace.events.size(), kNoNode.value) {
  for (std::uint32_t n = 0; n < tree.size(); ++n) node_[tree.event[n].value] = n;
}

}  // namespace ridge
