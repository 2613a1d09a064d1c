// A track stays if its process launched work on the device, or if its events stand in the file among such a process's.
#include "model/process_part.h"

#include <algorithm>
#include <map>
#include <set>

namespace ridge {
namespace {

// Where the events of a process stand in the file.
struct FileRange {
  std::uint32_t first = UINT32_MAX, last = 0;

  void add(std::uint32_t event) {
    first = std::min(first, event);
    last = std::max(last, event);
  }
  bool meets(const FileRange& other) const { return first <= other.last && other.first <= last; }
};

}  // namespace

std::optional<std::vector<bool>> tracks_of_device(const Model& model, std::int64_t device) {
  const Trace& trace = model.trace();
  const std::span<const EventId> work = trace.of(EventClass::device_work);
  const LaunchLinks& links = model.links();
  const auto process_of = [&](TrackId track) { return trace.forms.track(track).pid; };
  const auto launched_by = [&](std::uint32_t row) {
    const NodeId launch = links.launch[row];
    return launch == kNoNode ? std::optional<TrackPart>() : process_of(trace.track(model.tree().event[launch.value]));
  };
  std::set<TrackPart> here, elsewhere;
  for (const Device& each : model.timeline().devices) {
    TrackPart last;  // neighbours mostly share their process
    bool any = false;
    for (const WorkRow& row : each.work) {
      const std::optional<TrackPart> process = launched_by(row.row);
      if (!process || (any && *process == last)) continue;
      last = *process;
      any = true;
      (each.id == device ? here : elsewhere).insert(last);
    }
  }
  for (const TrackPart& process : here) elsewhere.erase(process);
  if (here.empty() || elsewhere.empty()) return std::nullopt;
  // A stream belongs to whoever launched its work. What else is neither a program's nor launched by one (a profiler's own
  // events) stands in the file among the events of its program: traces are combined one behind the other.
  const std::size_t tracks = trace.forms.tracks().size();
  std::vector<bool> launched_here(tracks), launched_elsewhere(tracks), keeps(tracks);
  for (std::size_t row = 0; row < work.size(); ++row) {
    const std::optional<TrackPart> process = launched_by(static_cast<std::uint32_t>(row));
    if (process) (elsewhere.contains(*process) ? launched_elsewhere : launched_here)[trace.track(work[row]).value] = true;
  }
  std::map<TrackPart, FileRange> ranges;
  for (std::uint32_t i = 0; i < trace.recorded_events(); ++i) ranges[process_of(trace.track(EventId{i}))].add(i);
  const auto among = [&](const TrackPart& process, const std::set<TrackPart>& programs) {
    return std::any_of(programs.begin(), programs.end(), [&](const TrackPart& p) { return ranges[p].meets(ranges[process]); });
  };
  for (std::size_t t = 0; t < tracks; ++t) {
    const TrackPart process = process_of(TrackId{t});
    if (launched_here[t] || launched_elsewhere[t]) {
      keeps[t] = launched_here[t];
    } else if (here.contains(process) || elsewhere.contains(process)) {
      keeps[t] = here.contains(process);
    } else {
      keeps[t] = among(process, here) || !among(process, elsewhere);
    }
  }
  return keeps;
}

}  // namespace ridge
