// The tables of `info`.
#include <string>

#include "analysis/info/info.h"

namespace ridge {
namespace {

// The folders of the machine that recorded are nobody's business: reports are sent around.
Cell file_name(const std::optional<std::string>& path) {
  if (!path) return {};
  return path->substr(path->find_last_of("/\\") + 1);
}

Cell cell(std::optional<std::int64_t> value) { return value ? Cell(*value) : Cell(); }
Cell cell(std::optional<bool> value) { return value ? Cell(*value) : Cell(); }
Cell cell(const std::optional<std::string>& value) { return value ? Cell(*value) : Cell(); }
Cell cell(std::string_view value) { return value.empty() ? Cell() : Cell(std::string(value)); }
Cell count_cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Table trace_table(const Info& info) {
  const Trace& t = *info.trace;
  const Metadata& m = t.metadata;
  Table table;
  table.name = "trace";
  table.hints.key_value = true;
  const auto add = [&](std::string name, Type type, Unit unit, Cell value) {
    table.add_column({std::move(name), type, unit}, {std::move(value)});
  };
  add("producer", Type::text, Unit::none, cell(info.producer));
  add("container", Type::text, Unit::none, cell(t.container == "plain" ? t.format : t.container));
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
  // Without the places of events, which only some commands keep.
  add("memory_bytes", Type::integer, Unit::bytes, count_cell(t.memory_bytes() - t.places.bytes()));
  add("distinct_texts", Type::integer, Unit::count, count_cell(t.strings.size()));
  add("backend", Type::text, Unit::none, cell(m.backend));
  add("host_name", Type::text, Unit::none, cell(m.host_name));
  add("trace_id", Type::text, Unit::none, cell(m.trace_id));
  add("trace_name", Type::text, Unit::none, file_name(m.trace_name));
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
    table.add_row({cell(d.id), cell(d.memory_bytes), cell(d.multiprocessors), capability, cell(d.warp_size),
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
    table.add_row(
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
    table.add_row({cell(part_text(t, track.pid)), cell(part_text(t, track.tid)), count.events, count.first_ns - origin,
                   count.last_ns - origin, cell(t.text(track.process_labels)), cell(t.text(track.process_name)),
                   cell(t.text(track.thread_name))});
  }
  return table;
}

// What an iteration takes on host and device, without what held the host up at both ends (facts/iteration_time.h), which takes
// far longer to find; and what the host alone took: one that runs
// ahead of the device is long done.
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
    table.add_row({iteration.number, iteration.span.start_ns - origin, iteration.span.duration_ns(),
                   iteration.end_ns - iteration.start_ns, info.launched[i], std::string(name_of(info.iterations->rule))});
  }
  return table;
}

Table versions_table(const Metadata& metadata) {
  Table table;
  table.name = "versions";
  table.columns = {{"name", Type::text}, {"version", Type::text}};
  for (const auto& [name, version] : metadata.versions) table.add_row({name, version});
  return table;
}

}  // namespace

Report report_info(const Info& info) {
  Report report;
  report.tables = {trace_table(info),      devices_table(info), categories_table(info),
                   iterations_table(info), tracks_table(info),  versions_table(info.trace->metadata)};
  return report;
}

}  // namespace ridge
