// Which pointers of a generated kernel are read and which written, when its source is not there to tell: from their order
// (in_out*, in*, out*), their sizes, the fused ops, and Inductor's own count of bytes (`kernel_num_gb`), which counts in_out
// twice.
#pragma once

#include <cstddef>
#include <optional>

#include "cost/triton/triton_arguments.h"
#include "cost/triton/triton_ops.h"

namespace ridge {

struct TritonRoles {
  std::size_t in_out = 0;  // the first pointers are read and written
  std::size_t out = 0;     // the last ones are written only; those between are read
  double slices =
      1;  // how many parts of a larger input the kernel reads, each of the size of its space; infinite for all of it
  bool ambiguous = false;  // another reading fits as well
};

// Needs at least one pointer and a space.
TritonRoles infer_roles(const TritonArguments& arguments, const FusedOps& ops, std::optional<double> kernel_num_gb);

struct TritonTraffic {
  double read = 0;
  double written = 0;
  bool ambiguous = false;  // a larger tensor was counted in part: contiguous and strided parts look the same
};

// `cache`: of the device, in units of an H200's.
TritonTraffic traffic_of(const TritonArguments& arguments, const FusedOps& ops, const TritonRoles& roles, double cache = 1);

// Kernels over lists of tensors (foreach), which walk them one after the other in blocks: the last pointers are written and all
// others read. As many are written as the grid covers; optimizers, which have five pointers or more for each element, write two
// (momentum) or three (Adam). Where that is all of them, they are updated in place. Always ambiguous.
TritonTraffic foreach_traffic(const TritonArguments& arguments, double blocks, double block_elements);

}  // namespace ridge
