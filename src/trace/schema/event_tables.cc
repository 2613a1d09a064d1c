// Tables of events: all of them, and one table per class with the arguments that belong to it. A column of trace/tables.h has
// the same name here.
#include <array>

#include "trace/schema/event_columns.h"
#include "trace/schema/schema.h"

namespace ridge::schema {
namespace {

// The argument of the column's key; null where it is absent or of another type.
void argument_integer(const ColumnRows& rows, std::uint64_t first, Batch<std::int64_t> out) {
  for (std::size_t i = 0; i < out.values.size(); ++i) out.set(i, rows.argument->integer(rows.arg_row(first, i)));
}
void argument_number(const ColumnRows& rows, std::uint64_t first, Batch<double> out) {
  for (std::size_t i = 0; i < out.values.size(); ++i) out.set(i, rows.argument->number(rows.arg_row(first, i)));
}
std::optional<StringId> argument_string(const ColumnRows& rows, std::uint64_t first, std::size_t i) {
  return rows.argument->text(rows.arg_row(first, i));
}
std::optional<StringId> name_string(const ColumnRows& rows, std::uint64_t first, std::size_t i) {
  return event_name_id(rows.table.trace, rows.table.event(first + i));
}

// A column of texts that are the trace's own, of a function that gives the StringId of a row.
template <auto String>
constexpr Column of_strings(std::string_view name, std::string_view line, ArgKey key = ArgKey::none) {
  Column column{name, "", line,
                Getter<std::string_view>([](const ColumnRows& rows, std::uint64_t first, Batch<std::string_view> out) {
                  for (std::size_t i = 0; i < out.values.size(); ++i) {
                    const auto id = String(rows, first, i);
                    out.set(i, id ? std::optional(rows.table.trace.text(*id)) : std::nullopt);
                  }
                })};
  column.key = key;
  column.string_ids = [](const ColumnRows& rows, std::uint64_t first, Batch<std::uint32_t> out) {
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const auto id = String(rows, first, i);
      out.set(i, id ? std::optional(id->value) : std::nullopt);
    }
  };
  return column;
}
constexpr Column argument_text(std::string_view name, std::string_view line, ArgKey key) {
  return of_strings<argument_string>(name, line, key);
}

std::optional<std::string_view> form_work(const Trace& trace, FormId form) {
  constexpr std::string_view kNames[] = {"none", "kernel", "copy", "set", "other"};
  return kNames[static_cast<std::size_t>(trace.forms.kind(form).work)];
}

constexpr std::array kCore = {
    Column{"event", "", "row of `events`: the place in the file's order", of_event<event_id>()},
    of_strings<name_string>("name", "as the file has it"),
    of_form<form_cat>("cat", "", "category, as the profiler names it"),
    of_form<form_track>("track", "", "row of `tracks`"),
    Column{"start_ns", "ns", "start, from the window's start; null where the trace has no window", of_event<event_start>()},
    Column{"ts_ns", "ns", "start as the file has it: with `base_time_ns` of `trace` added, since 1970", of_event<event_ts>()},
    Column{"dur_ns", "ns", "duration; of a B/E pair that of the pair", of_event<event_dur>()},
};

// The core columns with those of a class behind them.
template <std::size_t N>
constexpr std::array<Column, kCore.size() + N> with_core(const Column (&own)[N]) {
  std::array<Column, kCore.size() + N> all{};
  for (std::size_t i = 0; i < kCore.size(); ++i) all[i] = kCore[i];
  for (std::size_t i = 0; i < N; ++i) all[kCore.size() + i] = own[i];
  return all;
}

using K = ArgKey;

constexpr auto kEvents = with_core({
    of_form<form_ph>("ph", "", "phase of the trace event format: X, i, C, s, ..."),
    of_form<form_class>("class", "", "what it is to the analyses; each class has a table"),
});

constexpr auto kDeviceWork = with_core({
    of_form<form_work>("work", "", "kernel, copy, set or other"),
    {"external_id", "", "of the op that launched it", argument_integer, K::external_id},
    {"correlation", "", "that of the call that launched it", argument_integer, K::correlation},
    {"device", "", "index of the device", argument_integer, K::device},
    {"context", "", "of the device", argument_integer, K::context},
    {"stream", "", "of the device", argument_integer, K::stream},
    {"queued", "", "when it was queued; 0 where the profiler does not tell", argument_integer, K::queued},
    argument_text("grid", "blocks, as JSON: [x,y,z]", K::grid),
    argument_text("block", "threads of a block, as JSON: [x,y,z]", K::block),
    {"registers_per_thread", "count", "that the kernel uses", argument_integer, K::registers_per_thread},
    {"shared_memory", "bytes", "of a block", argument_integer, K::shared_memory},
    {"blocks_per_sm", "count", "blocks of the launch over multiprocessors", argument_number, K::blocks_per_sm},
    {"warps_per_sm", "count", "warps of the launch over multiprocessors", argument_number, K::warps_per_sm},
    {"occupancy_pct", "percent",
     "achieved occupancy, as the profiler estimates it; it writes 0 for blocks of more than 48 KiB of shared memory",
     argument_number, K::occupancy_pct},
    {"bytes", "bytes", "of a copy or set", argument_integer, K::bytes},
    {"bandwidth_gb_per_s", "gb_per_s", "of a copy or set, as the profiler has it", argument_number, K::bandwidth_gb_per_s},
    {"graph_id", "", "of the CUDA graph that launched it; 0: none", argument_integer, K::graph_id},
    {"graph_node_id", "", "node of that graph", argument_integer, K::graph_node_id},
});

constexpr auto kLaunches = with_core({
    {"external_id", "", "of the op around it", argument_integer, K::external_id},
    {"correlation", "", "that of the work that it launched", argument_integer, K::correlation},
    {"cbid", "", "callback id of the call", argument_integer, K::cbid},
    argument_text("kernel", "name of the kernel, where the call has it", K::kernel),
    argument_text("grid", "blocks, as JSON: [x,y,z]", K::grid),
    argument_text("block", "threads of a block, as JSON: [x,y,z]", K::block),
    {"bytes", "bytes", "of a copy or set", argument_integer, K::bytes},
    {"stream", "", "of the device", argument_integer, K::stream},
});

constexpr auto kOps = with_core({
    {"external_id", "", "unique to the call", argument_integer, K::external_id},
    {"sequence_number", "", "shared by a forward op and its backward", argument_integer, K::sequence_number},
    {"fwd_thread_id", "", "thread of the forward op; 0: it is one itself", argument_integer, K::fwd_thread_id},
    {"record_function_id", "", "of the profiler's callback", argument_integer, K::record_function_id},
    argument_text("input_dims", "shapes of the inputs, as JSON", K::input_dims),
    argument_text("input_type", "types of the inputs, as JSON", K::input_type),
    argument_text("input_strides", "as JSON", K::input_strides),
    argument_text("concrete_inputs", "inputs that are no tensors, as JSON", K::concrete_inputs),
    argument_text("kernel_file", "source of a generated kernel", K::kernel_file),
    argument_text("kernel_hash", "of that source", K::kernel_hash),
    argument_text("kernel_backend", "triton, ...", K::kernel_backend),
    argument_text("kernel_kwargs", "constants that a generated kernel was launched with", K::kernel_kwargs),
    argument_text("kernel_name", "of a generated kernel", K::kernel_name),
    {"kernel_flop", "flop", "as Inductor counts it", argument_number, K::kernel_flop},
    {"kernel_num_gb", "gb", "as Inductor counts it", argument_number, K::kernel_num_gb},
    {"num_warps", "count", "of a generated kernel", argument_integer, K::num_warps},
    {"num_stages", "count", "of a generated kernel", argument_integer, K::num_stages},
});

constexpr auto kCollectives = with_core({
    argument_text("collective", "allreduce, broadcast, ...", K::collective_name),
    argument_text("dtype", "of the elements", K::dtype),
    {"in_elements", "count", "that a rank gives", argument_integer, K::in_msg_nelems},
    {"out_elements", "count", "that a rank gets", argument_integer, K::out_msg_nelems},
    {"group_size", "count", "ranks of the group", argument_integer, K::group_size},
    argument_text("group_name", "of the process group", K::process_group_name),
    argument_text("group_description", "of the process group", K::process_group_description),
    argument_text("group_ranks", "as JSON", K::process_group_ranks),
    {"rank", "", "this one", argument_integer, K::rank},
    {"sequence", "", "number of the collective within its group", argument_integer, K::seq},
    {"source_rank", "", "who sends, of a message between two", argument_integer, K::src_rank},
    {"destination_rank", "", "who receives it", argument_integer, K::dst_rank},
});

constexpr auto kPythonFrames = with_core({
    {"id", "", "of the frame", argument_integer, K::python_id},
    {"parent_id", "", "id of the frame that called it", argument_integer, K::python_parent_id},
    {"module_id", "", "of the nn.Module whose call it is", argument_integer, K::python_module_id},
    argument_text("call_from", "who called it, as old profilers have it", K::call_from),
});

constexpr auto kMemory = with_core({
    {"addr", "", "address", argument_integer, K::addr},
    {"bytes", "bytes", "allocated; negative: freed", argument_integer, K::memory_bytes},
    {"total_allocated", "bytes", "on the device, after it", argument_integer, K::total_allocated},
    {"total_reserved", "bytes", "by the allocator, after it", argument_integer, K::total_reserved},
    {"device_type", "", "number of PyTorch's device type: 0 CPU, 1 CUDA, ...", argument_integer, K::device_type},
    {"device_id", "", "index of the device; -1: the host", argument_integer, K::device_id},
});

constexpr auto kFlows = with_core({
    of_form<form_ph>("ph", "", "s: it starts, t: a step, f: it ends"),
    {"id", "", "joins the ends of a flow, within one category", argument_integer, K::id, true},
});

constexpr auto kSyncs = with_core({
    argument_text("cuda_sync_kind", "what was waited for", K::cuda_sync_kind),
    {"correlation", "", "that of the call", argument_integer, K::correlation},
    {"device", "", "index of the device", argument_integer, K::device},
    {"stream", "", "that waited", argument_integer, K::stream},
    {"wait_on_stream", "", "stream that was waited for", argument_integer, K::wait_on_stream},
    {"wait_on_cuda_event_record_corr_id", "", "correlation of the call that recorded the event waited for", argument_integer,
     K::wait_on_cuda_event_record_corr_id},
    {"wait_on_cuda_event_id", "", "event that was waited for", argument_integer, K::wait_on_cuda_event_id},
});

template <EventClass kClass>
TableRows of_class(const Trace& trace) {
  return events_of(trace, kClass);
}

// Ops and device work that carry the arguments of a collective.
TableRows collective_rows(const Trace& trace) {
  TableRows rows(trace);
  const ArgColumn name(trace, ArgKey::collective_name);
  for (const EventClass c : {EventClass::op, EventClass::device_work}) {
    for (const EventId event : trace.of(c)) {
      if (name.text(event)) rows.chosen.push_back(event);
    }
  }
  rows.events = rows.chosen;
  rows.count = rows.events.size();
  return rows;
}

using enum EventClass;

constexpr Table kEventTables[] = {
    {"events", "An event, in the file's order: the row is the event's number. Those of every class are here.", kEvents,
     every_event},
    {"device_work", "A kernel, copy or set on a device.", kDeviceWork, of_class<device_work>},
    {"launches", "A call of a runtime or driver, whether it launches work or not.", kLaunches, of_class<launch>},
    {"ops", "A call of an op: ATen, autograd, compiled regions, launches of Triton kernels.", kOps, of_class<op>},
    {"collectives", "An op or a kernel of a collective, with what it was called with.", kCollectives, collective_rows},
    {"annotations", "A range that the program named: record_function, ProfilerStep#, phases of the compiler.", kCore,
     of_class<annotation>},
    {"gpu_annotations", "Such a range as it shows on a stream; no work of its own.", kCore, of_class<gpu_annotation>},
    {"python_frames", "A call of a Python function (`with_stack=True`).", kPythonFrames, of_class<python_frame>},
    {"memory_events", "An allocation or a release (`profile_memory=True`).", kMemory, of_class<memory>},
    {"flows", "An end of an arrow between two events.", kFlows, of_class<flow>},
    {"syncs", "A wait that was recorded on a device.", kSyncs, of_class<sync>},
    {"overheads", "What the profiler itself took.", kCore, of_class<overhead>},
    {"spans", "The span of the recording.", kCore, of_class<span>},
    {"marks", "An instant.", kCore, of_class<mark>},
    {"metadata_events", "An event that names a process or a thread (`ph` M).", kCore, of_class<metadata>},
    {"other_events", "An event of no class above.", kCore, of_class<other>},
};

}  // namespace

std::span<const Table> event_tables() { return kEventTables; }

}  // namespace ridge::schema
