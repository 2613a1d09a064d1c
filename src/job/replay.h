// Replay of a job: every rank's host, lane and streams go on as its items say, and a collective ends when its last rank has
// begun it and it is transferred. With other items or other transfers the same job is played under other circumstances.
//
// A rank's host and lane are played by two cursors over its items, the lane behind the host, so that a host runs ahead of a
// lane that waits. Linear in items. Where a recording contradicts itself (a wait for what can only end later), the collective
// that blocks is let go with those that have begun it, and counted.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "job/job.h"

namespace ridge {

struct JobChanges {
  std::unordered_map<std::uint32_t, std::vector<LaneItem>> items = {};  // by index of the rank: in place of its own
  std::unordered_map<std::uint32_t, std::int64_t> transfer_ns = {};     // by index of the meeting
};

struct JobReplay {
  std::int64_t end_ns = 0;  // of the last rank, by the common clock that they have
  std::vector<std::int64_t> rank_end_ns = {};
  std::int64_t forced = 0;  // collectives that were let go
};

JobReplay replay_job(const Job& job, const JobChanges& changes);

}  // namespace ridge
