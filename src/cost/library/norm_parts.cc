// Norms: which of their kernels work on the activations and which on vectors of parameters, and what blocks keep on chip.
#include <algorithm>
#include <cmath>

#include "cost/library/call_parts.h"
#include "ops/operands.h"

namespace ridge {

// Elementwise kernels of a norm work on the activations or on vectors of parameters: the grid tells.
void assign_norm_roles(CallParts& c) {
  const TensorShape* x = tensor_at(c.call, 0);
  if (x == nullptr) return;
  constexpr double kMostPerThread = 16;
  // Two blocks to a multiprocessor, which share its 227 KB: counters of an H200 show 29 to 30 MB for 264 blocks, and half as
  // much again of 16-bit values. They do so for one group of 64 channels after the other.
  constexpr double kKeptByBlock = 227 * 1024 / 2.0, kChannels = 64;
  const double channels = x->sizes.size() > 1 ? static_cast<double>(x->sizes[1]) : 1;
  const double kept = kKeptByBlock * std::max(std::ceil(channels / kChannels), 1.0) * (item_bytes(x->dtype) == 2 ? 1.5 : 1);
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const CallLaunch& launch = c.launches[i];
    NormPart& part = c.parts[i].edit<NormPart>();
    part.kept_bytes = volume(launch.grid) * kept;
    const double blocks = volume(launch.grid), threads = volume(launch.block);
    if (blocks > 0 && threads > 0) {
      const DeviceLimits& device = c.context.device;
      const double at_a_time = device.multiprocessors * std::max(std::floor(device.threads / threads), 1.0);
      part.share_in_work = std::min(at_a_time / blocks, 1.0);
    }
    const bool general = launch.facts->elementwise || launch.facts->reduce;
    if (c.parts[i].role != KernelRole::main || !general || !launch.grid || !launch.block) continue;
    const double covered = volume(launch.grid) * volume(launch.block) * kMostPerThread;
    c.parts[i].role = launch.facts->elementwise && covered < numel(*x) ? KernelRole::parameters : KernelRole::apply;
  }
  // Group norm's parameters come from sums that an earlier kernel made, not from the activations.
  if (c.call.op.find("group_norm") == std::string_view::npos) return;
  // But where a channel of an image is one value, there are no such sums.
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const bool from_sums = c.launches[i].kernel.find("GammaBeta1dBackward") == std::string_view::npos;
    if (c.parts[i].role == KernelRole::grad_weight && from_sums) c.parts[i].role = KernelRole::parameters;
  }
}

}  // namespace ridge
