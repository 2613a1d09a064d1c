// Marks events in passes: what starts in the range, then what that needs; flows with an end outside go.
#include "rewrite/selection.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "base/saturating.h"
#include "trace/tables.h"

namespace ridge {
namespace {

struct PairHash {
  template <class A, class B>
  std::size_t operator()(const std::pair<A, B>& p) const {
    return mix64(static_cast<std::uint64_t>(p.first) + 0x9E3779B97F4A7C15,
                 static_cast<std::uint64_t>(p.second) ^ 0xD6E8FEB86659FD93);
  }
};

class Selection {
 public:
  explicit Selection(const Scope& scope)
      : scope_(scope), model_(scope.model()), trace_(scope.trace()), kept_(trace_.recorded_events(), false) {
    const TimeRange whole = trace_.window.value_or(TimeRange{});
    for (std::size_t t = 0; t < trace_.forms.tracks().size(); ++t) {
      TimeRange window = scope.host_window(TrackId{t});
      // What starts before the first or behind the last recorded activity goes with a range that reaches so far.
      if (window.start_ns <= whole.start_ns) window.start_ns = std::numeric_limits<std::int64_t>::min();
      if (window.end_ns >= whole.end_ns) window.end_ns = std::numeric_limits<std::int64_t>::max();
      windows_.push_back(window);
    }
  }

  std::vector<bool> run() {
    by_time();
    device_work_and_launches();
    frames_of_the_background();
    device_annotations();
    ends_of_pairs();
    flows_whole();
    return std::move(kept_);
  }

 private:
  bool kept(EventId event) const { return kept_[event.value]; }
  void keep(EventId event, bool keep = true) { kept_[event.value] = keep; }

  const TimeRange& window_of(EventId event) const { return windows_[trace_.track(event).value]; }
  bool in_window(EventId event) const {
    const std::int64_t ts = trace_.events.ts_ns(event);
    return ts >= window_of(event).start_ns && ts < window_of(event).end_ns;
  }

  bool starts_or_belongs(EventId event) const {
    const std::int64_t ts = trace_.events.ts_ns(event);
    const Kind& kind = trace_.kind(event);
    if (kind.event_class == EventClass::metadata || ts == kNoTime) return true;
    // The recording itself: in as soon as it touches the range.
    if (kind.event_class == EventClass::span)
      return ts < window_of(event).end_ns && ts + trace_.events.dur_ns(event).value_or(0) >= window_of(event).start_ns;
    return kind.event_class == EventClass::python_frame ? lies_mostly_in_window(event) : in_window(event);
  }

  // Steps that are told by what they launch begin inside the frames that hold them: the one that such a frame is of has most of
  // it.
  bool lies_mostly_in_window(EventId event) const {
    const std::int64_t start = trace_.events.ts_ns(event);
    const std::int64_t dur = std::max<std::int64_t>(trace_.events.dur_ns(event).value_or(0), 0);
    if (dur == 0) return in_window(event);
    std::int64_t end = start;
    saturating_add(&end, dur);
    const TimeRange& window = window_of(event);
    const std::int64_t inside_ns = std::min(end, window.end_ns) - std::max(start, window.start_ns);
    return inside_ns > dur / 2;
  }

  void by_time() {
    for (std::uint32_t i = 0; i < trace_.recorded_events(); ++i) {
      const EventClass c = trace_.kind(EventId{i}).event_class;
      const bool later = c == EventClass::device_work || c == EventClass::flow;
      if (!later) keep(EventId{i}, starts_or_belongs(EventId{i}));
    }
  }

  void device_work_and_launches() {
    const auto& work = trace_.of(EventClass::device_work);
    const LaunchLinks& links = model_.links();
    const CallTree& tree = model_.tree();
    const auto launch_event = [&](std::size_t row) { return tree.event[links.launch[row].value]; };
    for (std::size_t row = 0; row < work.size(); ++row) {
      if (!scope_.holds_work(row)) continue;
      keep(work[row]);
      if (links.launch[row] != kNoNode) keep(launch_event(row));
    }
    std::vector<bool> climbed(tree.size(), false);
    for (std::size_t row = 0; row < work.size(); ++row) {
      if (links.launch[row] != kNoNode && kept(launch_event(row))) keep(work[row]);
      if (!kept(work[row])) continue;
      // The ops around a launch say what it was for; some of them may have started before the range.
      const NodeId from = links.launch[row] != kNoNode ? links.launch[row] : links.op[row];
      for (NodeId n = from; n != kNoNode && !climbed[n.value]; n = tree.parent[n.value]) {
        climbed[n.value] = true;
        if (tree.class_of(n) == EventClass::op) keep(tree.event[n.value]);
      }
    }
  }

  // A thread that launches nothing of the range mostly waits, for as long as it likes: of its frames go those that lie inside
  // whole, so that none stretches the range. Where no thread launches anything, the one that runs ops counts.
  void frames_of_the_background() {
    const CallTree& tree = model_.tree();
    const auto holds_kept = [&](const HostThread& thread, EventClass wanted) {
      for (std::uint32_t i = thread.first; i < thread.first + thread.count; ++i) {
        if (tree.event_class[i] == wanted && kept(tree.event[i])) return true;
      }
      return false;
    };
    const auto any_holds = [&](EventClass wanted) {
      return std::ranges::any_of(tree.threads, [&](const HostThread& thread) { return holds_kept(thread, wanted); });
    };
    const EventClass work = any_holds(EventClass::launch) ? EventClass::launch : EventClass::op;
    if (!any_holds(work)) return;
    for (const HostThread& thread : tree.threads) {
      if (holds_kept(thread, work)) continue;
      for (std::uint32_t i = thread.first; i < thread.first + thread.count; ++i) {
        const TimeRange& window = window_of(tree.event[i]);
        const bool inside = tree.start_ns[i] >= window.start_ns && tree.end_ns[i] <= window.end_ns;
        if (tree.event_class[i] == EventClass::python_frame && !inside) keep(tree.event[i], false);
      }
    }
  }

  // The shadow of an annotation stays with the annotation, whenever the device came to it.
  void device_annotations() {
    const ArgColumn external_id(trace_, ArgKey::external_id);
    std::unordered_set<std::int64_t> all, in;
    for (const EventId event : trace_.of(EventClass::annotation)) {
      const auto id = external_id.integer(event);
      if (!id) continue;
      all.insert(*id);
      if (kept(event)) in.insert(*id);
    }
    for (const EventId event : trace_.of(EventClass::gpu_annotation)) {
      const auto id = external_id.integer(event);
      if (id && all.contains(*id)) keep(event, in.contains(*id));
    }
  }

  // An E goes with its B.
  void ends_of_pairs() {
    std::vector<EventId> marks;
    for (std::uint32_t i = 0; i < trace_.recorded_events(); ++i) {
      const char phase = trace_.kind(EventId{i}).phase;
      if (phase == 'B' || phase == 'E') marks.push_back(EventId{i});
    }
    std::sort(marks.begin(), marks.end(), [&](EventId a, EventId b) {
      return std::tuple(trace_.track(a), trace_.events.ts_ns(a), a) < std::tuple(trace_.track(b), trace_.events.ts_ns(b), b);
    });
    std::vector<EventId> open;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (i > 0 && trace_.track(marks[i]) != trace_.track(marks[i - 1])) open.clear();
      if (trace_.kind(marks[i]).phase == 'B') {
        open.push_back(marks[i]);
      } else if (!open.empty()) {
        keep(marks[i], kept(open.back()));
        open.pop_back();
      }
    }
  }

  using TrackTime = std::pair<std::uint32_t, std::int64_t>;
  TrackTime place_of(EventId event) const { return {trace_.track(event).value, trace_.events.ts_ns(event)}; }

  enum class Slice : std::uint8_t { none, dropped, kept };

  // What stands where flows begin and end.
  std::unordered_map<TrackTime, Slice, PairHash> slices_at_flows() const {
    std::unordered_map<TrackTime, Slice, PairHash> slices;
    for (const EventId flow : trace_.of(EventClass::flow)) slices.emplace(place_of(flow), Slice::none);
    for (std::uint32_t i = 0; i < trace_.recorded_events(); ++i) {
      const EventId event{i};
      const char phase = trace_.kind(event).phase;
      if (phase != 'X' && phase != 'B') continue;
      const auto found = slices.find(place_of(event));
      if (found != slices.end() && found->second != Slice::kept) found->second = kept(event) ? Slice::kept : Slice::dropped;
    }
    return slices;
  }

  // A flow is kept when every end of it hangs on a slice that is, and dropped whole otherwise.
  void flows_whole() {
    const auto& flows = trace_.of(EventClass::flow);
    if (flows.empty()) return;
    const auto slices = slices_at_flows();
    const ArgColumn ids(trace_, ArgKey::id, true);
    using Key = std::pair<std::uint32_t, std::int64_t>;
    // Ids that are numbers and ids that are texts never meet.
    const auto key_of = [&](EventId flow) -> std::optional<Key> {
      const std::uint32_t cat = trace_.kind(flow).cat.value;
      if (const auto number = ids.integer(flow)) return Key{cat * 2, *number};
      if (const auto text = ids.text(flow)) return Key{cat * 2 + 1, text->value};
      return std::nullopt;
    };
    const auto holds = [&](EventId flow) {
      const Slice slice = slices.at(place_of(flow));
      return slice == Slice::kept || (slice == Slice::none && in_window(flow));
    };
    std::unordered_map<Key, bool, PairHash> whole;
    for (const EventId flow : flows) {
      const auto key = key_of(flow);
      if (!key) {
        keep(flow, holds(flow));
      } else {
        bool& all = whole.emplace(*key, true).first->second;
        all = all && holds(flow);
      }
    }
    for (const EventId flow : flows) {
      if (const auto key = key_of(flow)) keep(flow, whole.at(*key));
    }
  }

  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  std::vector<bool> kept_;
  std::vector<TimeRange> windows_;  // by track
};

}  // namespace

std::vector<bool> select_events(const Scope& scope) { return Selection(scope).run(); }

}  // namespace ridge
