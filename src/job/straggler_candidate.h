// StragglerCandidate: what could be mended, with what it takes and what it ought to; and how it is told when it turns out to
// cost.
#pragma once

#include <cstdint>
#include <optional>

#include "job/peers.h"
#include "job/stragglers.h"

namespace ridge {

// What could be mended: a rank's time of one sort, or a group's transfers.
struct StragglerCandidate {
  std::optional<std::uint32_t> rank, group;
  BlockTime time = BlockTime::device;
  double excess_ns = 0;            // of a step
  double other_work = 0;           // share of the excess in blocks with other kernels than the peers'
  double ratio = 1;                // own time over the peers'
  double own_ns = 0, peer_ns = 0;  // of a step
  std::int64_t own_kernels = 0, peer_kernels = 0;
};

// With its cause and evidence; `costs_ns` of a step that takes `step_ns`.
Straggler straggler_of(const StragglerCandidate& candidate, double costs_ns, std::int64_t step_ns);

}  // namespace ridge
