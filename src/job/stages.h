// Stages: whether the stages of a pipeline have the same work. Ranks of one stage are alike, so that none of them is a
// straggler, and all others wait for the longest stage: by what it is longer than the mean a step would gain at most, were the
// work dealt out evenly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "job/job.h"

namespace ridge {

struct UnevenStages {
  std::size_t stage = 0;            // the longest
  std::vector<std::int64_t> ranks;  // that are it
  std::int64_t longest_ns = 0;      // of the device, a step
  std::int64_t mean_ns = 0;         // of all stages
};

// Nothing where there is no pipeline, or its stages are even enough: less than 2 % of a step is not told.
std::optional<UnevenStages> find_uneven_stages(const Job& job, std::int64_t step_ns);

}  // namespace ridge
