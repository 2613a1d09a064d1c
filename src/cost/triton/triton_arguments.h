// The arguments of a Triton launch as its kernel sees them: pointers to tensors, then sizes, and the space that the kernel
// walks. Inductor passes in_out*, in*, out*, other scalars, workspaces, and last the numels: [z,] [y,] x for pointwise kernels,
// with the lengths of the reduced dimensions behind them in reductions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/kernel_identity.h"
#include "ops/op_call.h"

namespace ridge {

struct TritonPointer {
  const TensorShape* shape = nullptr;
  std::size_t position = 0;  // among the kernel's arguments
  double elements = 0;       // numel
  double item = 0;           // bytes of one; 0 when the dtype is not known
  double bytes = 0;          // of reading it whole
};

// Numels of a kernel: `kept` is the product of x, y and z; `reduced` of the reduced ones, 1 when there are none.
struct IterationSpace {
  double kept = 1;
  double reduced = 1;
  int dimensions = 1;  // of the kept ones

  double all() const { return kept * reduced; }
};

struct TritonArguments {
  std::vector<TritonPointer> pointers;    // without workspaces
  std::vector<TritonPointer> workspaces;  // scratch memory: pointers that follow a scalar, bytes behind a scan's outputs
  std::vector<std::optional<std::int64_t>> scalars;  // by position; nullopt where a pointer or a text stands
  std::optional<IterationSpace> space;               // nothing when the numels are not told (foreach, templates, user kernels)
  bool complete = true;                              // every pointer's dtype is known
};

// `kernel_kwargs` ("XBLOCK=2,R0_BLOCK=2048") tells how many numels there are; without it they are found by the pointers' sizes.
TritonArguments triton_arguments(const OpCall& call, Category category, std::string_view kernel_kwargs);

// The value of one of the kernel's constants in `kernel_kwargs`.
std::optional<std::int64_t> kernel_kwarg(std::string_view kernel_kwargs, std::string_view name);

}  // namespace ridge
