// Stand-ins: in the place of each rank that has no trace, or lost it, one that is replayed like the others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "job/job.h"
#include "job/peers.h"

namespace ridge {

// What ranks that are cut off early take, by their number and place.
using OwnTimes = std::map<std::int64_t, std::vector<BlockMedians>>;

// Of a trace that is cut off before a step was whole nothing is left but who it is.
bool is_lost(const JobRank& rank);

// `recorded`: the job before ranks were lost. A rank with own times is no stand-in: only its place is that of its peers. Of a
// job that is mostly not there nothing is made up.
void make_stand_ins(const Job& recorded, const OwnTimes& own, Job* job);

}  // namespace ridge
