// Stragglers: which ranks make the others wait, why, and what a step would take without.
//
// The job is replayed from its digests (job/replay.h). A candidate's times between collectives are replaced by those that its
// peers (ranks with the same sequence of collectives) have at the same place, in the median; what the job's end then gains is
// the candidate's cost. Causes are tried apart, since what is replaced differs:
//   device     the same kernels take longer            -> the device's time
//   imbalance  other kernels, more of them, other grids -> the device's time
//   host       launches come later                      -> the host's time
//   data       the loader takes longer                  -> the wait for it
//   link       transfers of a group take longer than those of its like -> the transfers
// The dearest is mended first, the next from there on, so that costs add up to what mending all of them brings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/job.h"

namespace ridge {

enum class StragglerCause : std::uint8_t { device, host, data, imbalance, link };
std::string_view name_of(StragglerCause cause);

struct Straggler {
  std::optional<std::uint32_t> rank;   // index into Job::ranks; nothing for a link
  std::optional<std::uint32_t> group;  // index into Job::groups; of a link
  StragglerCause cause = StragglerCause::device;
  std::int64_t costs_ns = 0;  // of a step
  double costs_pct = 0;
  std::string evidence;
  // Of several that are slow alike and hide each other: all of them, what they cost together, and their machine if it is all of
  // one.
  std::vector<std::uint32_t> alike = {};
  double alike_pct = 0;
  std::string host = {};
};

struct Stragglers {
  std::vector<Straggler> list;               // dearest first
  std::int64_t steps = 0;                    // how many the replay covers
  std::optional<std::int64_t> replayed_ns;   // a step, replayed with its own times
  std::optional<std::int64_t> if_median_ns;  // a step if every rank were like the median of its peers
  std::vector<Diagnostic> diagnostics;
};

// `step_ns`: what a step takes, of which costs are a share.
Stragglers find_stragglers(const Job& job, std::int64_t step_ns);

}  // namespace ridge
