#include "trace/arg_key.h"

#include <iterator>

namespace ridge {
namespace {

constexpr std::string_view kTexts[] = {
    "",
    "External id", "correlation", "device", "context", "stream", "Sequence number", "Fwd thread id", "Ev Idx", "Record function id",
    "cbid", "cid",
    "queued", "grid", "block", "registers per thread", "shared memory", "blocks per SM", "warps per SM", "est. achieved occupancy %",
    "graph id", "graph node id", "priority", "channel", "kind", "hsa_queue", "kernel",
    "bytes", "memory bandwidth (GB/s)", "fromDevice", "toDevice", "src", "dst",
    "Input Dims", "Input type", "Input Strides", "Concrete Inputs", "Call stack", "Module Hierarchy", "scope",
    "kernel_file", "kernel_hash", "kernel_backend", "kernel_kwargs", "kernel_name", "kernel_flop", "kernel_num_gb", "num_warps",
    "num_stages",
    "Python id", "Python parent id", "Python module id", "CallFrom",
    "Addr", "Bytes", "Total Allocated", "Total Reserved", "Device Type", "Device Id",
    "Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name", "Process Group Description",
    "Process Group Ranks", "In split size", "Out split size", "Global rank start", "Global rank stride", "Rank", "Src Rank",
    "Dst Rank", "Seq", "Comms Id", "Is asynchronized op",
    "cuda_sync_kind", "wait_on_stream", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id",
    "name", "labels", "sort_index", "Op count", "id", "bp", "s", "args",
};
static_assert(std::size(kTexts) == kArgKeys, "one text per ArgKey");

}  // namespace

std::span<const std::string_view> arg_key_texts() { return kTexts; }

}  // namespace ridge
