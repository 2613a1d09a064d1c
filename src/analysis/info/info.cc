// Counts by form, not by event: a form has one kind and one track. The tables are in info_report.cc.
#include "analysis/info/info.h"

#include <algorithm>
#include <string>

#include "analysis/catalog.h"
#include "base/in_parallel.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"
#include "trace/args.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// Kineto writes schemaVersion; its categories tell it apart even when a rewriter dropped that.
std::string_view producer_of(const Trace& trace) {
  const bool ops = !trace.of(EventClass::op).empty() || !trace.of(EventClass::device_work).empty();
  if (trace.metadata.schema_version || ops) return "kineto";
  return trace.events.size() == 0 ? "" : "chrome trace";
}

// A key is "held" when some shape of a kind of that class has it.
std::optional<bool> holds_arg(const Trace& trace, EventClass c, ArgKey key) {
  if (trace.of(c).empty()) return std::nullopt;
  const auto& forms = trace.forms.forms();
  return std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
    if (trace.forms.kinds()[form.kind.value].event_class != c) return false;
    const auto& slots = trace.forms.schemas()[form.schema.value].slots;
    return std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.key == id_of(key) && !slot.member; });
  });
}

std::optional<bool> holds_class(const Trace& trace, EventClass c) {
  if (trace.of(EventClass::op).empty()) return trace.of(c).empty() ? std::nullopt : std::optional(true);
  return !trace.of(c).empty();
}

// Durations of damaged traces may be anything: their sum stops at the largest number instead of wrapping around.
std::int64_t capped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// Where an event counts: its kind and its track, through its form.
struct FormCount {
  std::int64_t events = 0;
  std::int64_t with_duration = 0;
  std::int64_t time_ns = 0;
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;
};

// Which events a scope holds: device work as every analysis has it, on the other tracks what starts in the host's window. On
// the tracks of a device that is left out there is nothing. With --filter only events whose names match.
class HeldEvents {
 public:
  explicit HeldEvents(const Scope& scope)
      : scope_(scope), trace_(scope.trace()), matched_(scope.filtered() ? scope.trace().strings.size() : 0, Match::unknown) {
    if (!scope.narrowed()) return;
    const std::vector<Device>& devices = scope.model().timeline().devices;
    side_of_track_.assign(trace_.forms.tracks().size(), Side::host);
    held_.assign(trace_.events.size(), false);
    const std::span<const EventId> work = trace_.of(EventClass::device_work);
    for (const Device& device : devices) {
      for (const WorkRow& row : device.work)
        side_of_track_[trace_.track(work[row.row]).value] = scope.has_device(device.id) ? Side::device : Side::other_device;
    }
    for_each_work(scope, [&](const Device&, const WorkRow& row) { held_[work[row.row].value] = true; });
  }

  bool holds(EventId event) {
    if (!matched_.empty() && !matches(trace_.events.name(event))) return false;
    if (!scope_.narrowed()) return true;
    if (trace_.kind(event).event_class == EventClass::device_work) return held_[event.value];
    const Side side = side_of_track_[trace_.track(event).value];
    if (side == Side::other_device) return false;
    const TimeRange window = side == Side::device ? scope_.window() : scope_.host_window(trace_.track(event));
    const std::int64_t ts = trace_.events.ts_ns(event);
    return scope_.whole() || (ts != kNoTime && ts >= window.start_ns && ts < window.end_ns);
  }

 private:
  enum class Side : std::uint8_t { host, device, other_device };
  enum class Match : std::uint8_t { unknown, yes, no };

  bool matches(StringId name) {  // many events share a name
    Match& match = matched_[name.value];
    if (match == Match::unknown) match = scope_.matches(trace_.text(name)) ? Match::yes : Match::no;
    return match == Match::yes;
  }

  const Scope& scope_;
  const Trace& trace_;
  std::vector<Side> side_of_track_;
  std::vector<bool> held_;      // device work, by event
  std::vector<Match> matched_;  // by name; empty without --filter
};

std::vector<FormCount> count_forms(const Scope& scope) {
  const Trace& trace = scope.trace();
  HeldEvents held(scope);
  std::vector<FormCount> counts(trace.forms.forms().size());
  const auto add = [&](EventId event) {
    FormCount& count = counts[trace.events.form(event).value];
    const std::optional<std::int64_t> dur = trace.events.dur_ns(event);
    const std::int64_t ts = trace.events.ts_ns(event);
    ++count.events;
    count.with_duration += dur.has_value();
    count.time_ns = capped_sum(count.time_ns, dur.value_or(0));
    if (ts == kNoTime || trace.is_stray(ts)) return;
    count.first_ns = std::min(count.first_ns, ts);
    count.last_ns = std::max(count.last_ns, ts + dur.value_or(0));
  };
  for (const std::span<const EventId> events : trace.by_class) {  // of a part of a trace its own
    for (const EventId event : events) {
      if (held.holds(event)) add(event);
    }
  }
  return counts;
}

std::vector<std::int64_t> launched_per_iteration(const Scope& scope) {
  const Model& model = scope.model();
  const Iterations& iterations = model.iterations();
  std::vector<std::int64_t> counts(iterations.list.size());
  const auto add = [&](std::size_t row) {
    if (const auto i = iteration_of_work(model.trace(), model.tree(), model.links(), iterations, row)) ++counts[*i];
  };
  if (scope.narrowed()) {
    for_each_work(scope, [&](const Device&, const WorkRow& work) { add(work.row); });
  } else {  // without the timeline, which nothing else here needs
    for (std::size_t row = 0; row < model.trace().of(EventClass::device_work).size(); ++row) add(row);
  }
  return counts;
}

}  // namespace

std::optional<std::string> part_text(const Trace& trace, const TrackPart& part) {
  switch (part.type) {
    case TrackPart::Type::absent: return std::nullopt;
    case TrackPart::Type::integer: return std::to_string(part.value);
    default: return std::string(trace.text(StringId{static_cast<std::uint32_t>(part.value)}));
  }
}

Info compute_info(const Scope& scope) {
  const Trace& trace = scope.trace();
  Info info;
  info.trace = &trace;
  info.producer = producer_of(trace);
  const auto either = [](std::optional<bool> said, std::optional<bool> shown) { return said ? said : shown; };
  info.record_shapes = either(trace.metadata.record_shapes, holds_arg(trace, EventClass::op, ArgKey::input_dims));
  info.with_stack = either(trace.metadata.with_stack, holds_class(trace, EventClass::python_frame));
  info.profile_memory = either(trace.metadata.profile_memory, holds_class(trace, EventClass::memory));

  std::vector<FormCount> counts;
  at_once(
      {trace.events.size()},
      [&] {
        info.iterations = &scope.model().iterations();
        info.launched = launched_per_iteration(scope);
      },
      [&] { counts = count_forms(scope); });
  info.in_scope = scope.iterations();
  const std::vector<DeviceProperties>& devices = trace.metadata.devices;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(info.devices),
               [&](const DeviceProperties& d) { return !d.id || scope.has_device(*d.id); });

  info.kinds.resize(trace.forms.kinds().size());
  std::vector<TrackCount> tracks(trace.forms.tracks().size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Form& form = trace.forms.forms()[i];
    KindCount& kind = info.kinds[form.kind.value];
    kind.kind = form.kind;
    kind.events += counts[i].events;
    if (counts[i].with_duration > 0) kind.time_ns = capped_sum(kind.time_ns.value_or(0), counts[i].time_ns);
    const bool happens =
        trace.forms.kinds()[form.kind.value].event_class != EventClass::metadata && counts[i].first_ns != INT64_MAX;
    if (!happens) continue;
    TrackCount& track = tracks[form.track.value];
    if (track.events == 0) track = {form.track, 0, counts[i].first_ns, counts[i].last_ns};
    track.events += counts[i].events;
    track.first_ns = std::min(track.first_ns, counts[i].first_ns);
    track.last_ns = std::max(track.last_ns, counts[i].last_ns);
  }
  std::erase_if(info.kinds, [](const KindCount& c) { return c.events == 0; });
  std::sort(info.kinds.begin(), info.kinds.end(), [&](const KindCount& a, const KindCount& b) {
    const auto key = [&](const KindCount& c) {
      const Kind& kind = trace.forms.kinds()[c.kind.value];
      return std::tuple(-c.events, trace.text(kind.ph), trace.text(kind.cat));
    };
    return key(a) < key(b);
  });
  std::copy_if(tracks.begin(), tracks.end(), std::back_inserter(info.tracks), [](const TrackCount& c) { return c.events > 0; });
  std::sort(info.tracks.begin(), info.tracks.end(), [&](const TrackCount& a, const TrackCount& b) {
    const auto key = [&](const TrackCount& c) {
      const Track& track = trace.forms.track(c.track);
      return std::tuple(-c.events, part_text(trace, track.pid), part_text(trace, track.tid));
    };
    return key(a) < key(b);
  });
  return info;
}

Result<Report> run_info(const Scope& scope, const Arguments&) {
  const Info info = compute_info(scope);
  Report report = report_info(info);
  if (!scope.filtered()) return report;
  report.diagnostics.push_back(
      about_filter(scope, !info.kinds.empty(), "--filter applies to categories and tracks; the other tables cover all events"));
  return report;
}

}  // namespace ridge
