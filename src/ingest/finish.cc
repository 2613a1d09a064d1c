#include "ingest/finish.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::int64_t kDayNs = std::int64_t{86400} * 1'000'000'000;

constexpr EventClass kActivity[] = {EventClass::op, EventClass::annotation, EventClass::python_frame, EventClass::launch,
                                    EventClass::device_work};

// Start and end over some classes, leaving out events at time 0 when everything else is a day or more later.
struct Extent {
  std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  std::uint64_t at_zero = 0;

  bool empty() const { return start_ns > end_ns; }
  void add(std::int64_t ts, std::int64_t dur) {
    start_ns = std::min(start_ns, ts);
    end_ns = std::max(end_ns, ts + dur);
  }
};

Extent extent_of(const Trace& trace, std::span<const EventClass> classes) {
  Extent extent, zero;
  for (const EventClass c : classes) {
    for (const EventId event : trace.of(c)) {
      const std::int64_t ts = trace.events.ts_ns(event);
      if (ts == kNoTime) continue;
      const std::int64_t dur = trace.events.dur_ns(event).value_or(0);
      (ts == 0 ? zero : extent).add(ts, dur);
      zero.at_zero += ts == 0;
    }
  }
  if (zero.empty()) return extent;
  if (!extent.empty() && extent.start_ns > kDayNs) {
    extent.at_zero = zero.at_zero;
  } else {
    extent.add(zero.start_ns, zero.end_ns - zero.start_ns);
  }
  return extent;
}

}  // namespace

void pair_begins_and_ends(Trace* trace) {
  const auto& kinds = trace->forms.kinds();
  if (std::none_of(kinds.begin(), kinds.end(), [](const Kind& k) { return k.phase == 'B' || k.phase == 'E'; })) return;
  std::vector<EventId> marks;
  for (std::uint32_t i = 0; i < trace->events.size(); ++i) {
    const char phase = trace->kind(EventId{i}).phase;
    if (phase == 'B' || phase == 'E') marks.push_back(EventId{i});
  }
  // Per track in order of time; at equal times in file order, as they were written.
  std::sort(marks.begin(), marks.end(), [&](EventId a, EventId b) {
    return std::tuple(trace->track(a), trace->events.ts_ns(a), a) < std::tuple(trace->track(b), trace->events.ts_ns(b), b);
  });
  std::vector<EventId> open;
  const auto close_all = [&] {
    trace->diagnostics.add_unplaced(Problem::unmatched_begin, open.size());
    open.clear();
  };
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (i > 0 && trace->track(marks[i]) != trace->track(marks[i - 1])) close_all();
    if (trace->kind(marks[i]).phase == 'B') {
      open.push_back(marks[i]);
    } else if (open.empty()) {
      trace->diagnostics.add_unplaced(Problem::unmatched_end);
    } else {
      trace->storage->events.set_dur_ns(open.back(), trace->events.ts_ns(marks[i]) - trace->events.ts_ns(open.back()));
      open.pop_back();
    }
  }
  close_all();
}

void list_by_class(Trace* trace) {
  const auto& forms = trace->forms.forms();
  std::vector<EventClass> class_of(forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Kind& kind = trace->forms.kinds()[forms[i].kind.value];
    class_of[i] = kind.phase == 'E' ? EventClass::other : kind.event_class;  // the end of a pair is no slice
  }
  const std::uint32_t size = trace->events.size();
  const auto class_at = [&](std::uint32_t i) {
    return static_cast<std::size_t>(class_of[trace->events.form(EventId{i}).value]);
  };
  std::array<std::size_t, kEventClasses> counts{};
  for (std::uint32_t i = 0; i < size; ++i) ++counts[class_at(i)];
  std::array<EventId*, kEventClasses> next{};
  for (std::size_t c = 0; c < kEventClasses; ++c) {
    trace->by_class[c].resize(counts[c]);
    next[c] = trace->by_class[c].data();
  }
  for (std::uint32_t i = 0; i < size; ++i) *next[class_at(i)]++ = EventId{i};
}

void name_tracks(Trace* trace) {
  struct Process {
    StringId name, labels;
    std::optional<std::int64_t> sort_index;
  };
  std::map<TrackPart, Process> processes;
  const ArgColumn name(*trace, ArgKey::name), labels(*trace, ArgKey::labels), sort_index(*trace, ArgKey::sort_index);
  for (const EventId event : trace->of(EventClass::metadata)) {
    const std::string_view what = trace->text(trace->events.name(event));
    Track& track = trace->storage->forms.tracks()[trace->track(event).value];
    if (what == "thread_name") {
      track.thread_name = name.text(event).value_or(track.thread_name);
    } else if (what == "thread_sort_index") {
      track.thread_sort_index = sort_index.integer(event);
    } else if (what == "process_name") {
      processes[track.pid].name = name.text(event).value_or(StringId{});
    } else if (what == "process_labels") {
      processes[track.pid].labels = labels.text(event).value_or(StringId{});
    } else if (what == "process_sort_index") {
      processes[track.pid].sort_index = sort_index.integer(event);
    }
  }
  for (Track& track : trace->storage->forms.tracks()) {
    const auto process = processes.find(track.pid);
    if (process == processes.end()) continue;
    track.process_name = process->second.name;
    track.process_labels = process->second.labels;
    track.process_sort_index = process->second.sort_index;
  }
}

void find_window(Trace* trace) {
  Extent extent = extent_of(*trace, kActivity);
  // A trace of another program: whatever slices it has.
  constexpr EventClass kAnything[] = {EventClass::other};
  if (extent.empty()) extent = extent_of(*trace, kAnything);
  trace->diagnostics.add_unplaced(Problem::at_time_zero, extent.at_zero);
  if (!extent.empty()) trace->window = TimeRange{extent.start_ns, extent.end_ns};
}

}  // namespace ridge
