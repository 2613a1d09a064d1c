// What each kernel of a trace is: the description of its name (kernel_names), and what the op that launched it and the way it
// was launched add.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernel_names/kernel_description.h"
#include "model/call_tree.h"
#include "model/graph_replays.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

// The description of its name, or of the op's where that tells more.
using KernelIdentity = KernelDescription;

// What the launch tells beyond the kernel's name.
enum class LaunchHint : std::uint8_t {
  none,
  driver_call,  // launched by cuLaunchKernel, cuLaunchKernelEx or hipModuleLaunchKernel, as Triton does: decides only where no
                // rule fits
  triton_op,    // the launching op says that its kernel is Triton's
};

// Identity of one launch. `op` is the launching op's name, or empty.
KernelIdentity identify_kernel(std::string_view name, DeviceWork work, std::string_view op, LaunchHint hint);

// Identities of all device work; equal ones are stored once.
struct KernelIdentities {
  std::vector<std::uint32_t> of_row;  // by row of trace.of(EventClass::device_work)
  std::vector<KernelIdentity> identities;

  const KernelIdentity& operator[](std::size_t row) const { return identities[of_row[row]]; }
};

// The op of work that a graph replayed is the recovered one, where there is one.
KernelIdentities build_kernel_identities(const Trace& trace, const CallTree& tree, const LaunchLinks& links,
                                         const GraphReplays& replays);

}  // namespace ridge
