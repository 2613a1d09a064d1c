// Traces of a job's ranks, played by hand: in each step a rank loads a batch, computes, and all-reduces with the others; the
// all-reduce ends for all together. Times are whole microseconds by one clock, to which each rank's own adds what it is ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridge::test {

struct MadeRank {
  std::int64_t loader_us = 50;   // of each step
  std::int64_t stall_us = 0;     // of the host, before the first launch of each step
  std::int64_t launch_us = 10;   // from one launch to the next
  std::int64_t kernel_us = 100;  // of each kernel
  int kernels = 10;              // in a step
  int grid = 64;                 // of each kernel
  std::int64_t ahead_us = 0;     // its clock
  std::string host = "";
  std::optional<int> rank = {};  // as it says; nothing: its place in the list
  bool tells_rank = true;
  int first_step = 1;  // that it records
  int last_step = 5;
  std::string pg_name = "0";                     // ranks of one name meet
  std::optional<std::int64_t> transfer_us = {};  // of its group's collectives, where they take another time
};

struct MadeJob {
  std::vector<MadeRank> ranks;
  std::int64_t transfer_us = 200;
  bool sequence = true;  // collectives say their number
  std::int64_t base_ns = 1'700'000'000'000'000'000;
  std::optional<int> world_size = {};  // nothing: as many as there are
};

// The JSON of each rank. `step_us`: where given, what a step takes in the long run.
std::vector<std::string> made_traces(const MadeJob& job, std::int64_t* step_us = nullptr);

}  // namespace ridge::test
