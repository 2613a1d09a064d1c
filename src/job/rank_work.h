// RankWork: the device work and the waits of one rank as make_digest needs them, in the order in which the host issued them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/collective_args.h"
#include "model/model.h"

namespace ridge {

struct IssuedWork {
  std::int64_t issued_ns = 0;  // when its launch returned; its start where no launch is recorded
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stream = 0;
  std::uint32_t row = 0;                  // of trace.of(device_work); of a host's collective its node
  std::uint32_t collective = UINT32_MAX;  // index into RankWork::collectives; else a piece of the lane's work
  bool launched = false;                  // its launch is recorded
};

struct RankCollective {
  CollectiveArgs args;
  std::int64_t start_ns = 0, end_ns = 0;
  bool on_host = false;
};

struct RankStall {
  std::int64_t start_ns = 0, end_ns = 0;
  bool loader = false;  // else the host waits for the device
};

struct RankWork {
  std::vector<IssuedWork> issued;           // in the order of issue
  std::vector<RankCollective> collectives;  // in the order of issue
  std::vector<RankStall> stalls;            // of the threads that issue, in order of their ends; those that overlap are joined
  std::vector<std::pair<std::int64_t, std::int64_t>> copies;  // that collectives of the host make: the device is busy, no more
  std::int64_t device = -1;                                   // whose work it is; -1: none
};

// Of the device with most collectives, else most work.
RankWork gather_rank_work(const Model& model);

}  // namespace ridge
