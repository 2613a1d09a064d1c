// From the work of a rank to the items of its digest: what held up the lane, the host and each collective, told from the times
// at which they went on (see job/digest.h for the algebra).
//
// A piece of the lane's work that begins right when it could is part of a run. One that begins late was held up
//  - by the host, where its launch returned after the lane had come to rest;
//  - by a collective, where one ended meanwhile, later than the launch returned;
//  - by nothing that is known: then the delay is taken for part of the work.
// A collective waits for the lane where it begins no earlier than the work issued before it ended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/digest.h"
#include "job/rank_work.h"

namespace ridge {

struct LaneRest {
  std::int64_t at_ns = 0;
  std::int64_t length_ns = 0;
  LaneIdle cause = LaneIdle::other;
};

struct BuiltLane {
  std::vector<LaneItem> items;
  std::vector<LaneRest> rests;  // the lane's idle time, in order
  std::int64_t start_ns = 0;    // where the items begin
};

// `hash_of`: what each piece of work is, by row of trace.of(device_work).
BuiltLane build_lane(const RankWork& work, std::span<const std::uint32_t> hash_of);

// How long after what it waited for a piece of work begins: some microseconds, tens behind a full queue.
inline constexpr std::int64_t kStartLagNs = 40'000;
// Clocks of host and device differ by less.
inline constexpr std::int64_t kClockSlackNs = 2'000;

}  // namespace ridge
