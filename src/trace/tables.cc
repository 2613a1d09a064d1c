// Which arguments each class has, by name.
#include "trace/tables.h"

namespace ridge {

using K = ArgKey;

DeviceWorkTable device_work(const Trace& t) {
  return {.events = t.of(EventClass::device_work),
          .external_id = {t, K::external_id},
          .correlation = {t, K::correlation},
          .device = {t, K::device},
          .context = {t, K::context},
          .stream = {t, K::stream},
          .queued = {t, K::queued},
          .grid = {t, K::grid},
          .block = {t, K::block},
          .registers_per_thread = {t, K::registers_per_thread},
          .shared_memory = {t, K::shared_memory},
          .blocks_per_sm = {t, K::blocks_per_sm},
          .warps_per_sm = {t, K::warps_per_sm},
          .occupancy_pct = {t, K::occupancy_pct},
          .bytes = {t, K::bytes},
          .bandwidth_gb_per_s = {t, K::bandwidth_gb_per_s},
          .graph_id = {t, K::graph_id},
          .graph_node_id = {t, K::graph_node_id}};
}

LaunchTable launches(const Trace& t) {
  return {.events = t.of(EventClass::launch),
          .external_id = {t, K::external_id},
          .correlation = {t, K::correlation},
          .cbid = {t, K::cbid},
          .kernel = {t, K::kernel},
          .grid = {t, K::grid},
          .block = {t, K::block},
          .bytes = {t, K::bytes},
          .stream = {t, K::stream}};
}

OpTable ops(const Trace& t) {
  return {.events = t.of(EventClass::op),
          .external_id = {t, K::external_id},
          .sequence_number = {t, K::sequence_number},
          .fwd_thread_id = {t, K::fwd_thread_id},
          .record_function_id = {t, K::record_function_id},
          .input_dims = {t, K::input_dims},
          .input_type = {t, K::input_type},
          .input_strides = {t, K::input_strides},
          .concrete_inputs = {t, K::concrete_inputs},
          .kernel_file = {t, K::kernel_file},
          .kernel_hash = {t, K::kernel_hash},
          .kernel_backend = {t, K::kernel_backend},
          .kernel_kwargs = {t, K::kernel_kwargs},
          .kernel_name = {t, K::kernel_name},
          .kernel_flop = {t, K::kernel_flop},
          .kernel_num_gb = {t, K::kernel_num_gb},
          .num_warps = {t, K::num_warps},
          .num_stages = {t, K::num_stages}};
}

CollectiveTable collectives(const Trace& t) {
  return {.name = {t, K::collective_name},
          .dtype = {t, K::dtype},
          .in_elements = {t, K::in_msg_nelems},
          .out_elements = {t, K::out_msg_nelems},
          .group_size = {t, K::group_size},
          .group_name = {t, K::process_group_name},
          .group_description = {t, K::process_group_description},
          .group_ranks = {t, K::process_group_ranks},
          .rank = {t, K::rank},
          .sequence = {t, K::seq},
          .source_rank = {t, K::src_rank},
          .destination_rank = {t, K::dst_rank}};
}

PythonFrameTable python_frames(const Trace& t) {
  return {.events = t.of(EventClass::python_frame),
          .id = {t, K::python_id},
          .parent_id = {t, K::python_parent_id},
          .module_id = {t, K::python_module_id},
          .call_from = {t, K::call_from}};
}

MemoryTable memory_events(const Trace& t) {
  return {.events = t.of(EventClass::memory),
          .addr = {t, K::addr},
          .bytes = {t, K::memory_bytes},
          .total_allocated = {t, K::total_allocated},
          .total_reserved = {t, K::total_reserved},
          .device_type = {t, K::device_type},
          .device_id = {t, K::device_id}};
}

FlowTable flows(const Trace& t) { return {.events = t.of(EventClass::flow), .id = {t, K::id, true}}; }

CounterTable counters(const Trace& t) { return {.events = t.of(EventClass::counter)}; }

}  // namespace ridge
