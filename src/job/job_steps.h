// The steps of assemble_job, each in a file of its own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "job/job.h"

namespace ridge {

// "4-7, 12"; the first few of many.
std::string listed_ranks(const std::vector<std::int64_t>& ranks);

// Which digests are ranks of one job, and which rank each is: fills ranks, world_size, missing.
void choose_ranks(std::span<const Digest> digests, Job* job);

// Which groups the ranks form, and who meets whom: fills groups, names, meetings, attendants, meeting_of.
void match_meetings(Job* job);

// Ranks whose traces have no marks of steps as the others', and those that are cut off, get digests that are as the others' as
// far as they go. Whether any did: then who meets whom and the clocks are to be found anew.
bool remake_ranks(Job* job);

// A digest up to its first steps, of which it has more; of none nothing is left but who it is.
void cut_digest(std::size_t steps, Digest* digest);

// What is to be said of damaged traces, and of numbers of steps that differ.
void say_steps(Job* job);

// What each group is for: fills its role and whether its ranks share a machine.
void name_roles(Job* job);

// The clock of each rank, from the ends of the collectives that it shares with others; then when each meeting was complete and
// how long it took.
void fit_clocks(Job* job);

}  // namespace ridge
