// Tables of what is around the events and of what they share: the file, its metadata, devices, problems, tracks and kinds.
#include <algorithm>
#include <string>
#include <type_traits>

#include "trace/schema/event_columns.h"
#include "trace/schema/schema.h"

namespace ridge::schema {
namespace {

// Values as columns have them: unsigned numbers as integers, strings as views, an empty text as null.
template <class T>
auto column_value(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value ? std::optional<std::string_view>(*value) : std::nullopt;
  } else {
    return value;
  }
}
inline std::optional<std::string_view> column_value(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::optional<std::int64_t> column_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }

template <auto Member>
auto of_trace(const Trace& trace, std::size_t) {
  return column_value(trace.*Member);
}
template <auto Member>
auto of_metadata(const Trace& trace, std::size_t) {
  return column_value(trace.metadata.*Member);
}
template <auto Member>
auto of_device(const Trace& trace, std::size_t row) {
  return column_value(trace.metadata.devices[row].*Member);
}
template <auto Member>
auto of_track(const Trace& trace, std::size_t row) {
  if constexpr (std::is_same_v<decltype(Member), StringId Track::*>) {
    return text_or_null(trace, trace.forms.tracks()[row].*Member);
  } else {
    return trace.forms.tracks()[row].*Member;
  }
}
template <auto Member>
std::optional<std::string_view> of_kind(const Trace& trace, std::size_t row) {
  return text_or_null(trace, trace.forms.kinds()[row].*Member);
}

std::optional<std::int64_t> row_number(const Trace&, std::size_t row) { return row; }

// trace
std::optional<std::int64_t> window_start(const Trace& trace, std::size_t) {
  return trace.window ? std::optional(trace.window->start_ns) : std::nullopt;
}
std::optional<std::int64_t> window_length(const Trace& trace, std::size_t) {
  return trace.window ? std::optional(trace.window->duration_ns()) : std::nullopt;
}
std::optional<std::int64_t> file_bytes(const Trace& trace, std::size_t) {
  return trace.file_bytes == 0 ? std::nullopt : column_value(trace.file_bytes);
}

constexpr Column kTrace[] = {
    {"path", "", "of the file", of_row<of_trace<&Trace::path>>()},
    {"container", "", "plain, gzip or zstd", of_row<of_trace<&Trace::container>>()},
    {"format", "", "json", of_row<of_trace<&Trace::format>>()},
    {"file_bytes", "bytes", "as it lies on the disk", of_row<file_bytes>()},
    {"json_bytes", "bytes", "uncompressed", of_row<of_trace<&Trace::json_bytes>>()},
    {"elements", "count", "of the list of events, kept or not", of_row<of_trace<&Trace::elements>>()},
    {"window_start_ns", "ns", "first start of host or device activity, as the file counts time", of_row<window_start>()},
    {"window_ns", "ns", "from there to the last end", of_row<window_length>()},
    {"base_time_ns", "ns", "what the file's times count from, since 1970", of_row<of_metadata<&Metadata::base_time_ns>>()},
    {"schema_version", "", "of the profiler's format", of_row<of_metadata<&Metadata::schema_version>>()},
    {"rank", "", "of the process in its job", of_row<of_metadata<&Metadata::rank>>()},
    {"world_size", "count", "ranks of the job", of_row<of_metadata<&Metadata::world_size>>()},
    {"backend", "", "of the process group", of_row<of_metadata<&Metadata::backend>>()},
    {"record_shapes", "", "option of the profiler", of_row<of_metadata<&Metadata::record_shapes>>()},
    {"with_stack", "", "option of the profiler", of_row<of_metadata<&Metadata::with_stack>>()},
    {"with_modules", "", "option of the profiler", of_row<of_metadata<&Metadata::with_modules>>()},
    {"with_flops", "", "option of the profiler", of_row<of_metadata<&Metadata::with_flops>>()},
    {"profile_memory", "", "option of the profiler", of_row<of_metadata<&Metadata::profile_memory>>()},
    {"trace_id", "", "of the recording", of_row<of_metadata<&Metadata::trace_id>>()},
    {"trace_name", "", "of the recording", of_row<of_metadata<&Metadata::trace_name>>()},
    {"host_name", "", "of the machine", of_row<of_metadata<&Metadata::host_name>>()},
    {"display_time_unit", "", "what a viewer is to show", of_row<of_metadata<&Metadata::display_time_unit>>()},
};

// metadata: the versions, then whatever else stands around the events
const std::pair<std::string, std::string>& item(const Trace& trace, std::size_t row) {
  const auto& versions = trace.metadata.versions;
  return row < versions.size() ? versions[row] : trace.metadata.items[row - versions.size()];
}
std::optional<std::string_view> item_key(const Trace& trace, std::size_t row) { return item(trace, row).first; }
std::optional<std::string_view> item_value(const Trace& trace, std::size_t row) { return item(trace, row).second; }

constexpr Column kMetadata[] = {
    {"key", "", "as the file has it", of_row<item_key>()},
    {"value", "", "of a version its text, of anything else its JSON", of_row<item_value>()},
};

constexpr Column kDevices[] = {
    {"device", "", "index of the device", of_row<of_device<&DeviceProperties::id>>()},
    {"name", "", "as the driver says it", of_row<of_device<&DeviceProperties::name>>()},
    {"memory_bytes", "bytes", "of the device", of_row<of_device<&DeviceProperties::memory_bytes>>()},
    {"multiprocessors", "count", "SMs or CUs", of_row<of_device<&DeviceProperties::multiprocessors>>()},
    {"compute_major", "", "compute capability, before the point", of_row<of_device<&DeviceProperties::compute_major>>()},
    {"compute_minor", "", "compute capability, behind the point", of_row<of_device<&DeviceProperties::compute_minor>>()},
    {"warp_size", "count", "threads", of_row<of_device<&DeviceProperties::warp_size>>()},
    {"threads_per_multiprocessor", "count", "at most", of_row<of_device<&DeviceProperties::threads_per_multiprocessor>>()},
    {"registers_per_multiprocessor", "count", "in all", of_row<of_device<&DeviceProperties::registers_per_multiprocessor>>()},
    {"shared_memory_per_multiprocessor", "bytes", "in all",
     of_row<of_device<&DeviceProperties::shared_memory_per_multiprocessor>>()},
};

// diagnostics: the problems that were met
bool is_met(const Trace& trace, std::size_t problem) { return trace.diagnostics[static_cast<Problem>(problem)].count > 0; }
Problem nth_problem(const Trace& trace, std::size_t row) {
  std::size_t problem = 0;
  while (!is_met(trace, problem) || row-- > 0) ++problem;
  return static_cast<Problem>(problem);
}
std::optional<std::string_view> code(const Trace& t, std::size_t row) { return row_of(nth_problem(t, row)).code; }
std::optional<std::string_view> severity(const Trace& t, std::size_t row) {
  return ridge::name_of(row_of(nth_problem(t, row)).severity);
}
std::optional<std::string_view> message(const Trace& t, std::size_t row) { return row_of(nth_problem(t, row)).message; }
std::optional<std::int64_t> count(const Trace& t, std::size_t row) {
  return column_value(t.diagnostics[nth_problem(t, row)].count);
}
std::optional<std::int64_t> first_offset(const Trace& t, std::size_t row) {
  const std::uint64_t offset = t.diagnostics[nth_problem(t, row)].first_offset;
  return offset == UINT64_MAX ? std::nullopt : column_value(offset);
}

constexpr Column kDiagnostics[] = {
    {"problem", "", "its code, as `check` has it", of_row<code>()},
    {"severity", "", "info, warning or error", of_row<severity>()},
    {"count", "count", "how often", of_row<count>()},
    {"first_offset", "bytes", "where first, in the uncompressed JSON; null where that is not known", of_row<first_offset>()},
    {"message", "", "what it means", of_row<message>()},
};

// tracks
template <auto Part>
std::optional<std::int64_t> part_number(const Trace& trace, std::size_t row) {
  const TrackPart& part = trace.forms.tracks()[row].*Part;
  return part.type == TrackPart::Type::integer ? std::optional(part.value) : std::nullopt;
}
template <auto Part>
std::optional<std::string_view> part_text(const Trace& trace, std::size_t row) {
  const TrackPart& part = trace.forms.tracks()[row].*Part;
  if (part.type != TrackPart::Type::text) return std::nullopt;
  return trace.text(StringId{static_cast<std::uint32_t>(part.value)});
}

constexpr Column kTracks[] = {
    {"track", "", "its number", of_row<row_number>()},
    {"pid", "", "process; null where it is a text or absent", of_row<part_number<&Track::pid>>()},
    {"pid_text", "", "process, where it is a text", of_row<part_text<&Track::pid>>()},
    {"tid", "", "thread or stream; null where it is a text or absent", of_row<part_number<&Track::tid>>()},
    {"tid_text", "", "thread or stream, where it is a text", of_row<part_text<&Track::tid>>()},
    {"thread_name", "", "as metadata events name it", of_row<of_track<&Track::thread_name>>()},
    {"process_name", "", "as metadata events name it", of_row<of_track<&Track::process_name>>()},
    {"process_labels", "", "what the process is: CPU, GPU 0", of_row<of_track<&Track::process_labels>>()},
    {"thread_sort_index", "", "where a viewer puts it", of_row<of_track<&Track::thread_sort_index>>()},
    {"process_sort_index", "", "where a viewer puts it", of_row<of_track<&Track::process_sort_index>>()},
};

// kinds
std::optional<std::string_view> kind_class(const Trace& trace, std::size_t row) {
  return ridge::name_of(trace.forms.kinds()[row].event_class);
}

constexpr Column kKinds[] = {
    {"ph", "", "phase of the trace event format", of_row<of_kind<&Kind::ph>>()},
    {"cat", "", "category", of_row<of_kind<&Kind::cat>>()},
    {"class", "", "what such events are to the analyses", of_row<kind_class>()},
};

TableRows one_row(const Trace& trace) { return first_rows(trace, 1); }
TableRows metadata_rows(const Trace& t) { return first_rows(t, t.metadata.versions.size() + t.metadata.items.size()); }
TableRows device_rows(const Trace& trace) { return first_rows(trace, trace.metadata.devices.size()); }
TableRows track_rows(const Trace& trace) { return first_rows(trace, trace.forms.tracks().size()); }
TableRows kind_rows(const Trace& trace) { return first_rows(trace, trace.forms.kinds().size()); }
TableRows diagnostic_rows(const Trace& trace) {
  std::uint64_t met = 0;
  for (std::size_t problem = 0; problem < kProblems; ++problem) met += is_met(trace, problem);
  return first_rows(trace, met);
}

constexpr Table kTraceTables[] = {
    {"trace", "The file: one row.", kTrace, one_row},
    {"metadata", "What the profiler wrote around the events, but for what other tables have.", kMetadata, metadata_rows},
    {"devices", "A device that the profiler described.", kDevices, device_rows},
    {"diagnostics", "What was wrong with the file, by reason.", kDiagnostics, diagnostic_rows},
    {"tracks", "A thread of a process or a stream of a device: a pair of `pid` and `tid`.", kTracks, track_rows},
    {"kinds", "A pair of phase and category that events have.", kKinds, kind_rows},
};

}  // namespace

std::span<const Table> trace_tables() { return kTraceTables; }

}  // namespace ridge::schema
