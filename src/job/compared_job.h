// The job as it is replayed. Of a rank whose trace is not there (never given, or cut off before half of its steps) the others'
// collectives still tell that it came, but not when: it is stood in for by a rank made from its peers, with the median of
// their times, or of its own where it has a whole step. Without it, who waits for the absent one would wait as long as
// recorded, whatever is mended elsewhere. Where a rank's trace is cut off later, the replay of all ends with its last whole
// step.
// In a pipeline a stage waits for all that it receives, also where a recording shows no wait.
#pragma once

#include <optional>

#include "job/job.h"

namespace ridge {

// Nothing where the job is whole, or where most of it is missing. Ranks and groups keep their indexes; those that stand in come
// behind the others, but for one in the place of a trace that is cut off.
std::optional<Job> compared_job(const Job& job);

}  // namespace ridge
