// KernelPace: how fast a rank is compared with all others of the job, whatever each does: the same kernels on the same grids,
// the host's time for a launch, the loader's for a batch. For ranks that have no peers.
#pragma once

#include <optional>
#include <vector>

#include "job/job.h"
#include "job/peers.h"

namespace ridge {

struct KernelPace {
  std::vector<std::optional<double>> device, host, loader;  // by rank: own time over the others' median

  std::optional<double> ratio(std::uint32_t rank, BlockTime time) const {
    return (time == BlockTime::device ? device : time == BlockTime::host ? host : loader)[rank];
  }
};

KernelPace kernel_pace(const Job& job);

}  // namespace ridge
