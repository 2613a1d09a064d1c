// One walk over slices and arrows in the order of time, with a stack of open slices for each track.
#include "sql/slices.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "trace/arg_key.h"
#include "trace/args.h"
#include "trace/tables.h"

namespace ridge::sql {
namespace {

bool is_instant(char phase) { return phase == 'i' || phase == 'I' || phase == 'R'; }

struct Timed {
  std::int64_t ts_ns;
  std::int64_t end_ns;  // kOpen: it did not end
  std::uint32_t slice;
};
constexpr std::int64_t kOpen = INT64_MAX;

// As Perfetto takes them up: by start, of those that start together the longest first.
std::vector<Timed> in_time_order(const Trace& trace, const std::vector<EventId>& slices) {
  std::vector<Timed> timed;
  timed.reserve(slices.size());
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const std::int64_t ts = trace.events.ts_ns(slices[i]);
    const std::int64_t dur = slice_duration(trace, slices[i]);
    if (ts != kNoTime) timed.push_back({ts, dur < 0 ? kOpen : ts + dur, i});
  }
  std::ranges::sort(timed, [](const Timed& a, const Timed& b) {
    return std::tuple(a.ts_ns, -a.end_ns, a.slice) < std::tuple(b.ts_ns, -b.end_ns, b.slice);
  });
  return timed;
}

// Arrows of one id, category and name are one: each of its ends is joined with its start.
class Arrows {
 public:
  Arrows(const Trace& trace, std::size_t tracks)
      : trace_(trace), flows_(flows(trace)), bp_(trace, ArgKey::bp, true), waiting_(tracks) {
    order_.assign(flows_.events.begin(), flows_.events.end());
    std::ranges::stable_sort(order_, {}, [&](EventId event) { return trace.events.ts_ns(event); });
  }

  // Those before this time; `top` gives the slice that is open on a track.
  template <class Top>
  void advance(std::int64_t before_ns, Top top) {
    for (; next_ < order_.size() && trace_.events.ts_ns(order_[next_]) < before_ns; ++next_) meet(order_[next_], top);
  }
  // A slice begins: arrows that end at the next slice of its track end there.
  void begin(std::uint32_t track, std::uint32_t slice) {
    for (const auto& [from, event] : waiting_[track]) arrows.push_back({from, slice, event});
    waiting_[track].clear();
  }

  std::vector<Arrow> arrows;

 private:
  template <class Top>
  void meet(EventId event, Top top) {
    const auto id = flows_.id.integer(event);
    if (!id || trace_.events.ts_ns(event) == kNoTime) return;
    const std::uint32_t track = trace_.track(event).value;
    const Key key(*id, trace_.kind(event).cat, trace_.events.name(event));
    const char phase = trace_.kind(event).phase;
    const std::uint32_t open = top(track);
    const auto start = starts_.find(key);
    if (phase == 's') {
      if (open != kNoSlice) starts_.try_emplace(key, open);
      return;
    }
    if (start == starts_.end()) return;
    const auto bp = bp_.text(event);
    if (phase == 'f' && !(bp && trace_.text(*bp) == "e")) {
      waiting_[track].emplace_back(start->second, event);
    } else if (open != kNoSlice) {
      arrows.push_back({start->second, open, event});
      if (phase == 't') start->second = open;
    }
  }

  using Key = std::tuple<std::int64_t, StringId, StringId>;
  const Trace& trace_;
  const FlowTable flows_;
  const ArgColumn bp_;
  std::vector<EventId> order_;
  std::size_t next_ = 0;
  std::map<Key, std::uint32_t> starts_;
  std::vector<std::vector<std::pair<std::uint32_t, EventId>>> waiting_;
};

}  // namespace

std::vector<EventId> find_slices(const Trace& trace) {
  std::vector<char> phases;  // of each form
  for (const Form& form : trace.forms.forms()) phases.push_back(trace.forms.kinds()[form.kind.value].phase);
  std::vector<EventId> slices;
  slices.reserve(trace.recorded_events());
  for (std::uint32_t i = 0; i < trace.recorded_events(); ++i) {
    const EventId event{i};
    const char phase = phases[trace.events.form(event).value];
    if (phase == 'X' ? trace.events.dur_ns(event).has_value() : phase == 'B' || is_instant(phase)) slices.push_back(event);
  }
  return slices;
}

std::int64_t slice_duration(const Trace& trace, EventId event) {
  return is_instant(trace.kind(event).phase) ? 0 : trace.events.dur_ns(event).value_or(-1);
}

ProcessTracks::ProcessTracks(const Trace& trace) {
  std::map<TrackPart, std::uint32_t> met;
  for (std::uint32_t i = 0; i < trace.forms.tracks().size(); ++i) {
    const auto [process, is_new] = met.try_emplace(trace.forms.tracks()[i].pid, static_cast<std::uint32_t>(first_track.size()));
    if (is_new) first_track.emplace_back(i);
    process_of_track.push_back(process->second);
  }
}

std::vector<std::uint32_t> tracks_of_slices(const Trace& trace, const std::vector<EventId>& slices,
                                            const ProcessTracks& tracks) {
  const ArgColumn scope(trace, ArgKey::s, true);
  std::vector<std::uint32_t> all;
  all.reserve(slices.size());
  for (const EventId event : slices) {
    std::uint32_t track = trace.track(event).value;
    if (is_instant(trace.kind(event).phase)) {
      const auto id = scope.text(event);
      const std::string_view text = id ? trace.text(*id) : std::string_view();
      if (text == "g") track = tracks.global_track();
      if (text == "p") track = tracks.track_of_process(tracks.process_of_track[track]);
    }
    all.push_back(track);
  }
  return all;
}

Nesting nest(const Trace& trace, const std::vector<EventId>& slices, const std::vector<std::uint32_t>& tracks) {
  Nesting made;
  made.parent.assign(slices.size(), kNoSlice);
  made.depth.assign(slices.size(), 0);
  made.overlaps.assign(slices.size(), false);
  const std::size_t track_count = tracks.empty() ? 0 : *std::ranges::max_element(tracks) + std::size_t{1};
  struct Open {
    std::int64_t end_ns;
    std::uint32_t slice;
  };
  std::vector<std::vector<Open>> open(std::max(track_count, trace.forms.tracks().size()));
  Arrows arrows(trace, open.size());
  const auto top = [&](std::uint32_t track) { return open[track].empty() ? kNoSlice : open[track].back().slice; };
  for (const Timed& timed : in_time_order(trace, slices)) {
    arrows.advance(timed.ts_ns, top);
    const std::uint32_t track = tracks[timed.slice];
    std::vector<Open>& stack = open[track];
    while (!stack.empty() && stack.back().end_ns <= timed.ts_ns) stack.pop_back();
    // Ends grow towards the bottom, since what overlaps is not put on the stack.
    const auto holds_it =
        std::partition_point(stack.begin(), stack.end(), [&](const Open& o) { return o.end_ns >= timed.end_ns; });
    if (holds_it != stack.begin()) {
      const std::uint32_t parent = std::prev(holds_it)->slice;
      made.parent[timed.slice] = parent;
      made.depth[timed.slice] = made.depth[parent] + 1;
    }
    if (holds_it != stack.end()) {
      made.overlaps[timed.slice] = true;
      continue;
    }
    stack.push_back({timed.end_ns, timed.slice});
    arrows.begin(track, timed.slice);
  }
  arrows.advance(INT64_MAX, top);
  made.arrows = std::move(arrows.arrows);
  return made;
}

}  // namespace ridge::sql
