// ReplayCall: a call of the trace that launched a kernel, as a script has to make it again. One for each kernel with
// its grid and block, op and signature; all launches of a scope belong to one, and what cannot be made says why.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/scope.h"
#include "ops/op_call.h"

namespace ridge {

struct ReplayLaunch {
  std::string_view kernel, grid, block;  // as the trace has them; a view is of the trace

  auto operator<=>(const ReplayLaunch&) const = default;
};

// What the op says of a generated kernel.
struct KernelOrigin {
  std::string_view kernel_file, kernel_hash, kernel_kwargs;
  std::optional<std::int64_t> num_warps, num_stages;
};

struct ReplayCall {
  ReplayLaunch launch;    // the kernel it is about
  std::string_view op;    // or what stands for it: [no op], ...
  std::string_view dims;  // "Input Dims" as it stands
  OpCall call;            // its arguments
  bool triton = false;    // a kernel of Triton: launched by itself, from its source
  KernelOrigin source;
  std::string device;        // name of the device
  bool by_compiler = false;  // tried out while compiling, by its autotuner above all: no call of the program
  std::int64_t count = 0, time_ns = 0;
  std::optional<std::int64_t> median_ns;  // of one launch, where durations are known
  std::vector<ReplayLaunch> launches;     // kernels of the whole call, in order of start
  std::vector<double> list_sizes;         // elements of each tensor of lists that the trace left out; empty: not known
  std::string cannot;                     // why there is no script; empty: there is one
  bool source_differs = false;            // a Triton kernel from a source with another hash than the trace's
  std::string note;                       // what the script makes up or cannot be sure of; empty: nothing
};

// Most time first, the compiler's own behind the program's. Their counts and times add up to those of all kernels in the scope.
std::vector<ReplayCall> replay_calls(const Scope& scope);

// "4096x4096, 4096x512": the sizes of its tensors, a scalar as "()".
std::string shape_text(const OpCall& call);

}  // namespace ridge
