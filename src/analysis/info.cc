#include "analysis/info.h"

#include <algorithm>
#include <string>

#include "analysis/catalog.h"
#include "analysis/scoped_work.h"
#include "base/in_parallel.h"
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
    const auto& slots = trace.forms.shapes()[form.shape.value].slots;
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

// Which events a scope holds: device work as every analysis has it, on the other tracks what starts in the host's window. On the tracks of a
// device that is left out there is nothing. With --filter only events whose names match.
class HeldEvents {
 public:
  explicit HeldEvents(const Scope& scope)
      : scope_(scope), trace_(scope.trace()), matched_(scope.filtered() ? scope.trace().strings.size() : 0, Match::unknown) {
    if (!scope.narrowed()) return;
    const std::vector<Device>& devices = scope.model().timeline().devices;
    side_of_track_.assign(trace_.forms.tracks().size(), Side::host);
    held_.assign(trace_.events.size(), false);
    const std::vector<EventId>& work = trace_.of(EventClass::device_work);
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
    if (ts == kNoTime) return;
    count.first_ns = std::min(count.first_ns, ts);
    count.last_ns = std::max(count.last_ns, ts + dur.value_or(0));
  };
  for (const std::vector<EventId>& events : trace.by_class) {  // of a part of a trace its own
    for (const EventId event : events) {
      if (held.holds(event)) add(event);
    }
  }
  return counts;
}

Cell cell(std::optional<std::int64_t> value) { return value ? Cell(*value) : Cell(); }
Cell cell(std::optional<bool> value) { return value ? Cell(*value) : Cell(); }
Cell cell(const std::optional<std::string>& value) { return value ? Cell(*value) : Cell(); }
Cell cell(std::string_view value) { return value.empty() ? Cell() : Cell(std::string(value)); }
Cell count_cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Cell cell(const Trace& trace, const TrackPart& part) {
  switch (part.type) {
    case TrackPart::Type::absent: return {};
    case TrackPart::Type::integer: return std::to_string(part.value);
    default: return std::string(trace.text(StringId{static_cast<std::uint32_t>(part.value)}));
  }
}

Table trace_table(const Info& info) {
  const Trace& t = *info.trace;
  const Metadata& m = t.metadata;
  Table table;
  table.name = "trace";
  table.key_value = true;
  Row row;
  const auto add = [&](std::string name, Type type, Unit unit, Cell value) {
    table.columns.push_back({std::move(name), type, unit});
    row.push_back(std::move(value));
  };
  add("producer", Type::text, Unit::none, cell(info.producer));
  add("container", Type::text, Unit::none, cell(t.container));
  add("file_bytes", Type::integer, Unit::bytes, count_cell(t.file_bytes));
  add("json_bytes", Type::integer, Unit::bytes, count_cell(t.json_bytes));
  add("events", Type::integer, Unit::count, count_cell(t.elements));
  add("window_ns", Type::integer, Unit::ns, t.window ? Cell(t.window->duration_ns()) : Cell());
  add("iterations", Type::integer, Unit::count, info.iterations->list.empty() ? Cell() : Cell(info.iterations->count()));
  add("per", Type::text, Unit::none,
      info.iterations->list.empty() ? Cell() : Cell(std::string(name_of(info.iterations->rule))));
  add("rank", Type::integer, Unit::none, cell(m.rank));
  add("world_size", Type::integer, Unit::none, cell(m.world_size));
  add("record_shapes", Type::boolean, Unit::none, cell(info.record_shapes));
  add("with_stack", Type::boolean, Unit::none, cell(info.with_stack));
  add("profile_memory", Type::boolean, Unit::none, cell(info.profile_memory));
  add("with_modules", Type::boolean, Unit::none, cell(m.with_modules));
  add("with_flops", Type::boolean, Unit::none, cell(m.with_flops));
  add("device_events", Type::integer, Unit::count, count_cell(t.of(EventClass::device_work).size()));
  add("window_start_ns", Type::integer, Unit::ns, t.window ? Cell(t.window->start_ns) : Cell());
  add("base_time_ns", Type::integer, Unit::ns, cell(m.base_time_ns));
  add("dropped_events", Type::integer, Unit::count,
      count_cell(t.diagnostics.dropped_events() + t.diagnostics[Problem::truncated_event].count));
  add("memory_bytes", Type::integer, Unit::bytes, count_cell(t.memory_bytes()));
  add("distinct_texts", Type::integer, Unit::count, count_cell(t.strings.size()));
  add("backend", Type::text, Unit::none, cell(m.backend));
  add("host_name", Type::text, Unit::none, cell(m.host_name));
  add("trace_id", Type::text, Unit::none, cell(m.trace_id));
  add("trace_name", Type::text, Unit::none, cell(m.trace_name));
  table.rows.push_back(std::move(row));
  return table;
}

Table devices_table(const Info& info) {
  Table table;
  table.name = "devices";
  table.columns = {{"device", Type::integer},
                   {"memory_bytes", Type::integer, Unit::bytes},
                   {"multiprocessors", Type::integer, Unit::count},
                   {"compute_capability", Type::text},
                   {"warp_size", Type::integer, Unit::count},
                   {"name", Type::text}};
  for (const DeviceProperties& d : info.devices) {
    Cell capability;
    if (d.compute_major && d.compute_minor)
      capability = std::to_string(*d.compute_major) + "." + std::to_string(*d.compute_minor);
    table.rows.push_back({cell(d.id), cell(d.memory_bytes), cell(d.multiprocessors), capability, cell(d.warp_size),
                          cell(std::string_view(d.name))});
  }
  return table;
}

Table categories_table(const Info& info) {
  Table table;
  table.name = "categories";
  table.columns = {
      {"ph", Type::text}, {"cat", Type::text}, {"events", Type::integer, Unit::count}, {"time_ns", Type::integer, Unit::ns}};
  std::int64_t events = 0;
  for (const KindCount& count : info.kinds) {
    const Kind& kind = info.trace->forms.kinds()[count.kind.value];
    table.rows.push_back(
        {std::string(info.trace->text(kind.ph)), cell(info.trace->text(kind.cat)), count.events, cell(count.time_ns)});
    events += count.events;
  }
  table.total = Row{Cell(), Cell(), events, Cell()};  // times of different categories nest: their sum means nothing
  return table;
}

Table tracks_table(const Info& info) {
  const Trace& t = *info.trace;
  Table table;
  table.name = "tracks";
  table.columns = {{"pid", Type::text},
                   {"tid", Type::text},
                   {"events", Type::integer, Unit::count},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"end_ns", Type::integer, Unit::ns, Role::time_end},
                   {"labels", Type::text},
                   {"process", Type::text},
                   {"thread", Type::text}};
  const std::int64_t origin = t.window ? t.window->start_ns : 0;
  for (const TrackCount& count : info.tracks) {
    const Track& track = t.forms.track(count.track);
    table.rows.push_back({cell(t, track.pid), cell(t, track.tid), count.events, count.first_ns - origin, count.last_ns - origin,
                          cell(t.text(track.process_labels)), cell(t.text(track.process_name)),
                          cell(t.text(track.thread_name))});
  }
  return table;
}

// What an iteration takes on host and device, as summary and roofline have it, and what the host alone took: one that runs ahead of the device
// is long done.
Table iterations_table(const Info& info) {
  Table table;
  table.name = "iterations";
  table.columns = {{"iteration", Type::integer},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"duration_ns", Type::integer, Unit::ns},
                   {"host_ns", Type::integer, Unit::ns},
                   {"device_events", Type::integer, Unit::count},
                   {"per", Type::text}};
  const std::int64_t origin = info.trace->window ? info.trace->window->start_ns : 0;
  for (const std::size_t i : info.in_scope) {
    const Iteration& iteration = info.iterations->list[i];
    table.rows.push_back({iteration.number, iteration.span.start_ns - origin, iteration.span.duration_ns(),
                          iteration.end_ns - iteration.start_ns, info.launched[i],
                          std::string(name_of(info.iterations->rule))});
  }
  return table;
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

Table versions_table(const Metadata& metadata) {
  Table table;
  table.name = "versions";
  table.columns = {{"name", Type::text}, {"version", Type::text}};
  for (const auto& [name, version] : metadata.versions) table.rows.push_back({name, version});
  return table;
}

}  // namespace

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
      return std::tuple(-c.events, cell(trace, track.pid), cell(trace, track.tid));
    };
    return key(a) < key(b);
  });
  return info;
}

Report report_info(const Info& info) {
  Report report;
  report.tables = {trace_table(info),      devices_table(info), categories_table(info),
                   iterations_table(info), tracks_table(info),  versions_table(info.trace->metadata)};
  return report;
}

Result<Report> run_info(const Scope& scope, const Arguments&) {
  const Info info = compute_info(scope);
  Report report = report_info(info);
  if (!scope.filtered()) return report;
  report.diagnostics.push_back(
      info.kinds.empty() ? Diagnostic{"filter_matches_nothing", 1, "no event's name matches --filter", "warning"}
                         : Diagnostic{"filter_not_used", 1,
                                      "--filter narrows categories and tracks; the other tables are of all events", "info"});
  return report;
}

}  // namespace ridge
