// CPU kernels of compiled code: calls in which C++ that Inductor generated computes on the host. A device that waits meanwhile
// waits for that computation, not for a launch.
//
// Two things in a trace tell of them. With stacks, the C function `kernel` that a generated module calls; its name says nothing
// more, the module's file does. With Inductor's kernel profile on (TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1), an op with
// "cpp_fused_" in its name. A trace without either shows none.
#pragma once

#include <string_view>

#include "model/call_tree.h"
#include "trace/trace.h"

namespace ridge {

inline constexpr std::string_view kCpuKernelFrame = "<built-in function kernel>";
inline constexpr std::string_view kCpuKernelOp = "cpp_fused_";

// By name alone: a function called `kernel` may be anybody's.
bool may_be_cpu_kernel(std::string_view name);
// Whether a slice is such a call. The op inside such a frame is one too: the outermost stands for both.
bool is_cpu_kernel(const Trace& trace, const CallTree& tree, NodeId node);

struct CpuKernelName {
  std::string_view kernel;  // "graph_0_cpp_fused_add_sin_0", or the frame's name where no op tells
  std::string_view file;    // of the generated module that calls it; empty without stacks
};
CpuKernelName name_cpu_kernel(const Trace& trace, const CallTree& tree, NodeId kernel);

}  // namespace ridge
