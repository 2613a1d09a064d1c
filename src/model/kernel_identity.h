// What a kernel is, told from its name (and, for Triton's nameless ones, from the op that launched it): category, library,
// readable label, and for Inductor kernels the ops it fuses. The rules are a table with one row each, in kernel_identity.cc.
//
// Where categories meet: `layout` moves elements and computes nothing (copies, casts, transposes, concatenation, gather,
// scatter, embedding); softmax, pooling, losses, scans are `reduction`; random numbers, dropout and foreach arithmetic are
// `elementwise`; a GEMM that a convolution launches is `conv`; helpers of a library stay with what they serve, but layout
// transforms are `layout`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "model/graph_replays.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

enum class Category : std::uint8_t {
  triton_pointwise,
  triton_reduction,
  triton_persistent_reduction,
  triton_template,
  triton_foreach,
  triton_split_scan,
  triton_user,
  triton_other,
  gemm,
  conv,
  attention,
  norm,
  elementwise,
  reduction,
  layout,
  optimizer,
  comm,
  memcpy,
  memset,
  other,
};
inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::other) + 1;

std::string_view name_of(Category category);

struct KernelIdentity {
  Category category = Category::other;
  std::string_view library;            // inductor, triton, cublas, cutlass, cudnn, aten, nccl, ...; empty when not known
  std::string label;                   // readable form of the name
  std::vector<std::string> fused_ops;  // of an Inductor kernel: ATen names without the namespace, in the name's order
  bool helper = false;  // layout transform, split-k reduction, workspace init inside a library call: moves data only
};

// What the launch tells beyond the kernel's name.
enum class LaunchHint : std::uint8_t {
  none,
  driver_call,  // launched by cuLaunchKernel, cuLaunchKernelEx or hipModuleLaunchKernel, as Triton does: decides only where no
                // rule fits
  triton_op,    // the launching op says that its kernel is Triton's
};

// Identity of a name alone. `op` is the launching op's name, or empty.
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
