// Utilisation: how much of a device's peaks an iteration used, of arithmetic (MFU) and of memory. Part of `roofline` and of
// `summary`.
//
// An iteration's duration is the longer of the host's (to the start of the next) and the device's (first start to last end of
// the work launched in it): a host that runs ahead of its device must not make a percentage better than it is. MFU counts the
// FLOPs that ran: where a program computes activations again, they count again; a convolution counts by its definition,
// whatever algorithm its kernel has.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "facts/cost_sum.h"
#include "facts/scope.h"

namespace ridge {

struct IterationUse {
  std::int64_t iteration = 0;  // its number; of the sum: 0
  std::int64_t duration_ns = 0;
  CostSum cost;
  KnownSum flops_ns = {};  // the time that the peak of arithmetic would need for the FLOPs
};

struct Utilisation {
  std::vector<IterationUse> iterations;
  IterationUse all;          // over all of them, from the first start to the last end
  std::int64_t devices = 0;  // that have kernels: utilisation is the mean over them
};

// Of the iterations that lie wholly in the scope; none where it holds no whole one.
Utilisation compute_utilisation(const Scope& scope);

// Share of the peak of arithmetic, and of memory, over the duration; nothing where it is not known.
std::optional<double> mfu_pct(const IterationUse& use, std::int64_t devices);
std::optional<double> bandwidth_pct(const IterationUse& use, std::int64_t devices);

}  // namespace ridge
