// augment: the trace as it stands, byte for byte, with what each kernel and op cost added to its args.
//
// Device events get kernel_flop, kernel_num_gb, achieved_flops_pct, achieved_bandwidth_pct, bound and roof_us; ops whose
// subtree launched device work get one object `ridge`: kernels, device_us, flops, gb, and how many of the kernels are not in
// these sums because nothing is known of them. Ops that launched some themselves get kernel_flop and kernel_num_gb of it, as
// PyTorch's script does, but for those of generated kernels, where these are Inductor's own. A value that is not known is left
// out. Keys of ours that are there already are replaced. Events that are damaged, and all other bytes, are copied as they are.
#pragma once

#include <cstdint>
#include <string>

#include <ridge/result.h>

#include "cost/cost_model.h"
#include "rewrite/blocks.h"

namespace ridge {

struct AugmentCounts {
  std::uint64_t device_events = 0;
  std::uint64_t with_flops = 0;  // of them
  std::uint64_t with_bytes = 0;
  std::uint64_t ops = 0;  // that got `ridge`
};

// `source` is what the trace of `costs` was read from, with its places kept, opened anew.
Result<AugmentCounts> augment(const CostModel& costs, OpenedSource source, const BlockOptions& options, PackedFile* out);

}  // namespace ridge
