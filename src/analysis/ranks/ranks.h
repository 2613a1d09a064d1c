// ranks: the ranks of a job side by side: which one the others wait for, why, and what that costs; how much of communication is
// waiting and how much transfer.
//
// In a collective `wait` is the time before its last rank arrived, by the common clock, and `transfer` the rest: a rank's two
// add up to its comm_ns. `late` is what a rank made the others wait: from the last but one to arrive until itself; a send is
// never late, since its receive is posted ahead. Sums are
// over the steps of the trace. Of a collective (a meeting of ranks) wait and exposed time are the mean over its ranks, transfer
// is its own: algbw = bytes / transfer_ns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "job/job.h"
#include "job/stages.h"
#include "job/stragglers.h"

namespace ridge {

struct RankStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;  // by the common clock, from the start of the first
  std::int64_t step_ns = 0;
  std::int64_t busy_ns = 0, compute_ns = 0;
  std::int64_t wait_ns = 0, transfer_ns = 0, late_ns = 0, exposed_ns = 0;
};

struct RankSums {
  const JobRank* rank = nullptr;
  std::vector<RankStep> steps;
  RankStep total;  // over the steps
  // A step's, in the mean over those that count. Of a stage of a pipeline that is all but a first one that is longer than any
  // other: a receive that is posted ahead begins with the host, which may be steps ahead of the device, and its step with it.
  std::int64_t step_ns = 0;
  std::size_t first_counted = 0;
  std::int64_t bubble_ns = 0;  // waiting for another stage of a pipeline, nothing else to do
  // Of the steps, however many collectives at once: in one, and waiting for others in one.
  std::int64_t in_collectives_ns = 0, waiting_ns = 0;
};

inline std::span<const DigestStep> counted_steps(const RankSums& sums) {
  return std::span(sums.rank->digest->steps).subspan(sums.first_counted);
}

struct MeetingSums {
  std::uint32_t name = 0, group = 0, dtype = 0;
  std::int64_t count = 0;
  std::optional<std::int64_t> bytes;
  double wait_ns = 0, exposed_ns = 0;  // means over ranks, summed
  std::int64_t transfer_ns = 0;
  std::int64_t sized_ns = 0;  // transfer of those whose bytes are known
};

struct MessageSums {
  std::uint32_t name = 0, group = 0;
  std::int64_t bytes = 0, count = 0, median_ns = 0;
};

struct Ranks {
  const Job& job;  // which must outlive it
  std::vector<RankSums> ranks = {};
  std::vector<MeetingSums> collectives = {};  // longest first
  std::vector<MessageSums> messages = {};
  std::optional<double> peer_bytes_per_s = {};  // of the device's links within a machine
  std::int64_t step_ns = 0;                     // of the job: the median rank's
  std::string peer_source = {};                 // of that figure
  Stragglers stragglers = {};
  std::optional<UnevenStages> stages = {};
  std::optional<double> network_bytes_per_s = {};  // of each rank, one way, where the user told it
};

// What of a rank's time in a collective was waiting for others, and what transfer.
struct MeetingPart {
  std::int64_t wait_ns = 0, transfer_ns = 0;
};
MeetingPart part_in(const Job& job, const Meeting& meeting, const Attendant& attendant);

// Where the times of reports begin, by the common clock: the start of the first step of all ranks.
std::int64_t clock_origin(const Job& job);

Ranks compute_ranks(const Job& job);
Report report_ranks(const Ranks& ranks);

}  // namespace ridge
