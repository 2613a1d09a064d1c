// The tracks of a trace, grouped and named as the trace names them, in the order that its sort indexes ask for.
#include <algorithm>
#include <map>
#include <tuple>

#include "timeline/state.h"
#include "trace/args.h"

namespace ridge {
namespace {

std::string text_of(const Trace& trace, const TrackPart& part) {
  switch (part.type) {
    case TrackPart::Type::integer: return std::to_string(part.value);
    case TrackPart::Type::text: return std::string(trace.text(StringId{static_cast<std::uint32_t>(part.value)}));
    case TrackPart::Type::absent: break;
  }
  return "?";
}

bool is_thread(const Lane& lane) {
  return lane.count_of(EventClass::op) + lane.count_of(EventClass::annotation) + lane.count_of(EventClass::python_frame) +
             lane.count_of(EventClass::launch) >
         0;
}

// Profilers write "stream 7 ".
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The value that the first slices of a lane agree on.
std::optional<std::int64_t> common(const ArgColumn& column, const Lane& lane) {
  constexpr std::size_t kLooked = 64;
  std::optional<std::int64_t> found;
  for (const LaneRow& row : lane.rows) {
    for (std::size_t i = 0; i < std::min(row.size(), kLooked); ++i) {
      const auto value = column.integer(row.event[i]);
      if (value && found && *value != *found) return std::nullopt;
      if (value) found = value;
    }
  }
  return found;
}

std::string track_name(const Trace& trace, const Track& track, bool stream) {
  const std::string_view given = trimmed(trace.text(track.thread_name));
  if (!given.empty()) return std::string(given);
  const std::string tid = text_of(trace, track.tid);
  if (track.tid.type == TrackPart::Type::text) return tid;
  return (stream ? "stream " : "thread ") + tid;
}

// Kineto writes a stream's waits on a thread of their own, the stream plus a million, as viewers lose slices that overlap
// kernels. https://github.com/pytorch/kineto/pull/1356
void name_waits(const Trace& trace, const Track& track, TrackInfo* info) {
  constexpr std::int64_t kApart = 1'000'000;
  if (!trimmed(trace.text(track.thread_name)).empty()) return;
  if (info->name != "stream " + std::to_string(*info->stream + kApart)) return;
  info->name = "stream " + std::to_string(*info->stream) + ", waits";
}

std::string group_name(const Trace& trace, const Track& track) {
  const std::string_view given = trimmed(trace.text(track.process_name));
  const std::string pid = text_of(trace, track.pid);
  if (track.pid.type == TrackPart::Type::text && given.empty()) return pid;
  return given.empty() ? "pid " + pid : std::string(given) + " (pid " + pid + ")";
}

}  // namespace

std::vector<TrackGroup> Timeline::groups() const {
  const Threads::Use use(state_->threads.get());
  const Trace& trace = state_->trace();
  const ArgColumn device(trace, ArgKey::device), stream(trace, ArgKey::stream);
  std::map<TrackPart, std::vector<const Lane*>> by_process;
  for (const Lane& lane : state_->lanes().lanes) by_process[trace.forms.track(lane.track).pid].push_back(&lane);

  std::vector<TrackGroup> groups;
  for (auto& [pid, lanes] : by_process) {
    std::stable_sort(lanes.begin(), lanes.end(), [&](const Lane* a, const Lane* b) {
      const Track &x = trace.forms.track(a->track), &y = trace.forms.track(b->track);
      return std::tuple(x.thread_sort_index.value_or(INT64_MAX), x.tid) <
             std::tuple(y.thread_sort_index.value_or(INT64_MAX), y.tid);
    });
    const Track& first = trace.forms.track(lanes.front()->track);
    TrackGroup group{
        .id = "p" + std::to_string(groups.size()),
        .name = group_name(trace, first),
        .labels = std::string(trace.text(first.process_labels)),
        .kind = std::any_of(lanes.begin(), lanes.end(), [](const Lane* l) { return l->is_stream(); }) ? "device" : "process",
        .sort = first.process_sort_index.value_or(INT64_MAX),
        .tracks = {}};
    for (const Lane* lane : lanes) {
      const bool is_device = lane->is_stream();
      TrackInfo info{.id = lane->track.value,
                     .name = track_name(trace, trace.forms.track(lane->track), is_device),
                     .kind = is_device          ? "stream"
                             : is_thread(*lane) ? "thread"
                                                : "other",
                     .device = {},
                     .stream = {},
                     .depth = static_cast<std::uint32_t>(lane->rows.size()),
                     .slices = lane->slices,
                     .busy_ns = lane->busy_ns};
      if (is_device) info.device = common(device, *lane), info.stream = common(stream, *lane);
      if (info.stream) name_waits(trace, trace.forms.track(lane->track), &info);
      group.tracks.push_back(std::move(info));
    }
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const TrackGroup& a, const TrackGroup& b) { return a.sort < b.sort; });
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].sort = static_cast<std::int64_t>(i);
  return groups;
}

}  // namespace ridge
