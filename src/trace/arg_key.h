// ArgKey: the arguments that the analyses read by name. Each is interned at a fixed StringId when a Trace is made, so that a
// key known here is compared as a number. Keys not listed stay reachable by their text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/ids.h"

namespace ridge {

enum class ArgKey : std::uint8_t {
  none,
  // links
  external_id,
  correlation,
  device,
  context,
  stream,
  sequence_number,
  fwd_thread_id,
  ev_idx,
  record_function_id,
  cbid,
  cid,
  // kernels
  queued,
  grid,
  block,
  registers_per_thread,
  shared_memory,
  blocks_per_sm,
  warps_per_sm,
  occupancy_pct,
  graph_id,
  graph_node_id,
  priority,
  channel,
  kind,
  hsa_queue,
  kernel,
  // copies
  bytes,
  bandwidth_gb_per_s,
  from_device,
  to_device,
  src,
  dst,
  // ops
  input_dims,
  input_type,
  input_strides,
  concrete_inputs,
  call_stack,
  module_hierarchy,
  scope,
  // generated kernels
  kernel_file,
  kernel_hash,
  kernel_backend,
  kernel_kwargs,
  kernel_name,
  kernel_flop,
  kernel_num_gb,
  num_warps,
  num_stages,
  // python frames
  python_id,
  python_parent_id,
  python_module_id,
  call_from,
  // memory
  addr,
  memory_bytes,
  total_allocated,
  total_reserved,
  device_type,
  device_id,
  // collectives
  collective_name,
  dtype,
  in_msg_nelems,
  out_msg_nelems,
  group_size,
  process_group_name,
  process_group_description,
  process_group_ranks,
  in_split_size,
  out_split_size,
  global_rank_start,
  global_rank_stride,
  rank,
  src_rank,
  dst_rank,
  seq,
  comms_id,
  is_asynchronized_op,
  // recorded waits
  cuda_sync_kind,
  wait_on_stream,
  wait_on_cuda_event_record_corr_id,
  wait_on_cuda_event_id,
  // metadata events and the event's own members
  name,
  labels,
  sort_index,
  op_count,
  id,
  bp,
  s,
  args,
  count_,
};

inline constexpr std::size_t kArgKeys = static_cast<std::size_t>(ArgKey::count_);

// The text under which the profiler writes the key, in the order of the enum; none is the empty text.
std::span<const std::string_view> arg_key_texts();

inline StringId id_of(ArgKey key) { return StringId{static_cast<std::uint32_t>(key)}; }

}  // namespace ridge
