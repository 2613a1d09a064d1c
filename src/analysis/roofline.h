// roofline: each kernel against what its device can do at the kernel's arithmetic intensity, and how much of the device an iteration used.
//
// A kernel's point: x, the FLOPs for each byte of compulsory traffic; y, the FLOP/s it reached. For a kernel without FLOPs in PyTorch's
// convention the estimated arithmetic of its fused ops stands in, where known. pct_of_roof is the time that the roof needs over the time it
// took, which is y over the roof's height, and means something for a kernel that only moves data too.
//
// An iteration's duration is the longer of the host's (to the start of the next) and the device's (first start to last end of the work launched
// in it): a host that runs ahead of its device must not make a percentage better than it is. MFU counts the FLOPs that ran: where a program
// computes activations again, they count again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "analysis/kernel_costs.h"
#include "analysis/kernels.h"
#include "analysis/scope.h"

namespace ridge {

struct RoofPoint {
  std::optional<double> intensity, flops_per_s, roof_flops_per_s, pct_of_roof;
};
RoofPoint roof_point(const CostSum& cost);

// One roof of a device: of a dtype on one sort of unit.
struct DeviceRoof {
  std::int64_t device = 0;
  DeviceSpec spec;
  DType dtype = DType::unknown;
  MathUnit unit = MathUnit::matrix;
  Figure peak;
};

struct IterationUse {
  std::int64_t iteration = 0;  // its number; of the sum: 0
  std::int64_t duration_ns = 0;
  CostSum cost;
};

struct Roofline {
  Kernels kernels;
  std::vector<DeviceRoof> roofs;  // of the dtypes that the kernels compute in
  std::vector<IterationUse> iterations;
  IterationUse all;          // over all of them, from the first start to the last end
  std::int64_t devices = 0;  // that have kernels: utilisation is the mean over them
};

Roofline compute_roofline(const Scope& scope);
Report report_roofline(const Roofline& roofline);

// Share of the peak of arithmetic, and of memory, over the duration; nothing where it is not known.
std::optional<double> mfu_pct(const IterationUse& use, std::int64_t devices);
std::optional<double> bandwidth_pct(const IterationUse& use, std::int64_t devices);

}  // namespace ridge
