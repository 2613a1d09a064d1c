// arrivals: the collectives of a job one by one: when each rank arrived, by the common clock, and how long it then waited for
// the last. What the page shows of a collective that is selected; for who asks more than `ranks` sums up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ridge/report.h>

#include "job/job.h"

namespace ridge {

struct Arrival {
  std::uint32_t meeting = 0, rank = 0, collective = 0;  // indexes into Job::meetings, Job::ranks and that rank's digest
  std::optional<std::int64_t> start_ns;                 // by the common clock, from the start of the first step of all ranks
  std::optional<std::int64_t> after_ns;                 // behind the first to arrive
  std::int64_t own_start_ns = 0;  // by the rank's own clock, from the start of its first step: exact, whatever the clocks
  std::int64_t wait_ns = 0, transfer_ns = 0;  // as `ranks` has them: they add up to its time in the collective
};

// `rank` (as its trace says) with `own_start_ns`: of the collective that it began then alone; empty: there is none. With `rank`
// alone: of all that it takes part in.
std::vector<Arrival> find_arrivals(const Job& job, std::optional<std::int64_t> rank, std::optional<std::int64_t> own_start_ns);

Report report_arrivals(const Job& job, const std::vector<Arrival>& arrivals);

}  // namespace ridge
