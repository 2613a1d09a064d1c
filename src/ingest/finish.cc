// B/E pairs are matched per track with a stack; the window comes from host and device activity.
#include "ingest/finish.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/args.h"

namespace ridge {
namespace {

// Counts the problem once for each of the events, and tells where they stand if that is known.
void note(Problem problem, std::vector<EventId> events, Trace* trace) {
  if (trace->places.empty()) {
    trace->diagnostics.add_unplaced(problem, events.size());
    return;
  }
  std::sort(events.begin(), events.end());  // as in the file
  for (const EventId event : events) trace->diagnostics.add(problem, trace->places[event.value].begin);
}

}  // namespace

bool pair_begins_and_ends(Trace* trace) {
  const auto& kinds = trace->forms.kinds();
  if (std::none_of(kinds.begin(), kinds.end(), [](const Kind& k) { return k.phase == 'B' || k.phase == 'E'; })) return false;
  std::vector<EventId> marks;
  for (std::uint32_t i = 0; i < trace->events.size(); ++i) {
    const char phase = trace->kind(EventId{i}).phase;
    if (phase == 'B' || phase == 'E') marks.push_back(EventId{i});
  }
  // Per track in order of time; at equal times in file order, as they were written.
  std::sort(marks.begin(), marks.end(), [&](EventId a, EventId b) {
    return std::tuple(trace->track(a), trace->events.ts_ns(a), a) < std::tuple(trace->track(b), trace->events.ts_ns(b), b);
  });
  std::vector<EventId> open, begins, ends;  // of one track; without the other, on all tracks
  const auto close_all = [&] {
    begins.insert(begins.end(), open.begin(), open.end());
    open.clear();
  };
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (i > 0 && trace->track(marks[i]) != trace->track(marks[i - 1])) close_all();
    if (trace->kind(marks[i]).phase == 'B') {
      open.push_back(marks[i]);
    } else if (open.empty()) {
      ends.push_back(marks[i]);
    } else {
      trace->storage->events.set_dur_ns(open.back(), trace->events.ts_ns(marks[i]) - trace->events.ts_ns(open.back()));
      open.pop_back();
    }
  }
  close_all();
  note(Problem::unmatched_begin, std::move(begins), trace);
  note(Problem::unmatched_end, std::move(ends), trace);
  return true;
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

Extent extent_of(const Trace& trace, std::span<const EventClass> classes) {
  Extent extent;
  for (const EventClass c : classes) {
    for (const EventId event : trace.of(c)) extent.add(trace.events.ts_ns(event), trace.events.dur_ns(event).value_or(0));
  }
  return extent;
}

void find_window(Trace* trace, const Extent& activity) {
  // A trace of another program: whatever slices it has.
  constexpr EventClass kAnything[] = {EventClass::other};
  const std::span<const EventClass> classes = activity.none() ? std::span(kAnything) : activity_classes();
  Extent extent = activity.none() ? extent_of(*trace, classes) : activity;
  if (extent.none()) return;
  if (extent.at_zero != 0) {
    if (extent.start_ns > kFarFromZeroNs && !extent.only_zero()) {  // strays
      std::vector<EventId> strays;
      for (const EventClass c : classes) {
        std::ranges::copy_if(trace->of(c), std::back_inserter(strays), [&](EventId e) { return trace->events.ts_ns(e) == 0; });
      }
      note(Problem::at_time_zero, std::move(strays), trace);
    } else {
      extent.start_ns = std::min<std::int64_t>(extent.start_ns, 0);
      extent.end_ns = std::max(extent.end_ns, extent.zero_end_ns);
    }
  }
  trace->window = TimeRange{extent.start_ns, extent.end_ns};
}

}  // namespace ridge
