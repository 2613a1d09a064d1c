// The CPU kernels of compiled code (model/cpu_kernels.h) that ran in a scope: how often, how long, for which graph, and their
// names where the trace or the generated module's source tells them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facts/scope.h"
#include "model/compiled_regions.h"

namespace ridge {

struct CpuKernelCost {
  std::string kernel;            // "cpp_fused_add_sin_0"; "<built-in function kernel>" where nothing tells its name
  std::string file;              // of the module that calls it; empty without stacks
  std::uint32_t call = kNoCall;  // a compiled call that ran it: index into compiled_regions().calls
  std::int64_t calls = 0;
  std::int64_t cpu_ns = 0;
};

// One row per kernel, file and compiled frame; most time first.
std::vector<CpuKernelCost> list_cpu_kernels(const Scope& scope);

// The CPU kernels that the text of a generated module calls, in order: "cpp_fused_add_sin_0", ...
std::vector<std::string_view> cpu_kernel_calls(std::string_view module_source);

}  // namespace ridge
