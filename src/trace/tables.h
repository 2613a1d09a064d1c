// One table per class of event: its events in file order and the arguments that belong to it, as typed columns.
// A table is made on demand by its function, costs a few pointers per shape and copies nothing; the trace must outlive it.
// Read a column with the event: table.correlation.integer(table.events[i]).
#pragma once

#include <span>

#include "trace/args.h"
#include "trace/trace.h"

namespace ridge {

struct DeviceWorkTable {  // kernels, copies, sets
  std::span<const EventId> events;
  ArgColumn external_id, correlation, device, context, stream, queued;
  ArgColumn grid, block, registers_per_thread, shared_memory, blocks_per_sm, warps_per_sm, occupancy_pct;
  ArgColumn bytes, bandwidth_gb_per_s, graph_id, graph_node_id;
};

struct LaunchTable {  // runtime and driver calls
  std::span<const EventId> events;
  ArgColumn external_id, correlation, cbid, kernel, grid, block, bytes, stream;
};

struct OpTable {
  std::span<const EventId> events;
  ArgColumn external_id, sequence_number, fwd_thread_id, record_function_id;
  ArgColumn input_dims, input_type, input_strides, concrete_inputs;
  ArgColumn kernel_file, kernel_hash, kernel_backend, kernel_kwargs, kernel_name, kernel_flop, kernel_num_gb, num_warps,
      num_stages;
};

struct CollectiveTable {  // arguments of collectives, on ops and on kernels
  ArgColumn name, dtype, in_elements, out_elements, group_size, group_name, group_description, group_ranks, rank, sequence,
      source_rank, destination_rank;
};

struct PythonFrameTable {
  std::span<const EventId> events;
  ArgColumn id, parent_id, module_id, call_from;
};

struct MemoryTable {
  std::span<const EventId> events;
  ArgColumn addr, bytes, total_allocated, total_reserved, device_type, device_id;
};

struct FlowTable {
  std::span<const EventId> events;
  ArgColumn id;  // joined within one category; the phase (s, t, f) is the event's kind
};

struct CounterTable {
  std::span<const EventId> events;  // each argument of a counter is a curve: read them through the event's shape
};

DeviceWorkTable device_work(const Trace& trace);
LaunchTable launches(const Trace& trace);
OpTable ops(const Trace& trace);
CollectiveTable collectives(const Trace& trace);
PythonFrameTable python_frames(const Trace& trace);
MemoryTable memory_events(const Trace& trace);
FlowTable flows(const Trace& trace);
CounterTable counters(const Trace& trace);

}  // namespace ridge
