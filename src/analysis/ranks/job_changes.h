// What changed between two recordings of a job: a step and its parts, rank by rank, collective by collective, and which
// stragglers came and went. The waterfall divides a step of the mean rank into what its device computed and what held it up,
// so that the parts add up to the step. Ranks are matched by number, groups by name and size, stragglers by who they are and
// why.
#pragma once

#include <ridge/report.h>

#include "analysis/ranks/ranks.h"

namespace ridge {

// The first table is `ranks`; times are of a step, in the mean.
Report report_job_changes(const Ranks& before, const Ranks& after);

}  // namespace ridge
