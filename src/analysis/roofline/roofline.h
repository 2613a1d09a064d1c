// roofline: each kernel against what its device can do at the kernel's arithmetic intensity, and how much of the device an
// iteration used.
//
// A kernel's point: x, the FLOPs for each byte of compulsory traffic; y, the FLOP/s it reached. For a kernel without FLOPs in
// PyTorch's convention the estimated arithmetic of its fused ops stands in, where known. pct_of_roof is the time that the roof
// needs over the time it took, which is y over the roof's height, and means something for a kernel that only moves data too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "analysis/kernels/kernels.h"
#include "facts/cost_sum.h"
#include "facts/scope.h"
#include "facts/utilisation.h"

namespace ridge {

struct RoofPoint {
  std::optional<double> intensity, flops_per_s, roof_flops_per_s, pct_of_roof;
};
RoofPoint roof_point(const CostSum& sum);

// One roof of a device: of a dtype on one sort of unit.
struct DeviceRoof {
  std::int64_t device = 0;
  DeviceSpec spec;
  DType dtype = DType::unknown;
  MathUnit unit = MathUnit::matrix;
  Figure peak;
};

struct Roofline {
  Kernels kernels;
  std::vector<DeviceRoof> roofs;  // of the dtypes that the kernels compute in
  Utilisation use;
};

Roofline compute_roofline(const Scope& scope);
Report report_roofline(const Roofline& roofline);

}  // namespace ridge
