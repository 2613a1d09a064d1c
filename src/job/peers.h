// Peers: ranks that do the same in a step, told by the sequence of their collectives; and what each of them has between two
// collectives (a block): the device's time, the host's, the loader's.
#pragma once

#include <cstdint>
#include <vector>

#include "job/job.h"

namespace ridge {

enum class BlockTime : std::uint8_t { device, host, loader };
inline constexpr std::size_t kBlockTimes = 3;

// The first block of a trace and the last one are cut by the window, each in its own way.
inline constexpr std::uint32_t kOpening = 0, kClosing = 1, kFirstPlace = 2;

// From behind a collective up to the next one, or to the end of the trace. What lies between the last collective of a step
// and the first of the next is a block of the latter.
struct LaneBlock {
  std::uint32_t first = 0, end = 0;  // items
  std::uint32_t place = 0;           // kOpening, kClosing, or kFirstPlace and its number in its step
  std::int64_t ns[kBlockTimes] = {};
  std::int64_t pause_ns = 0;  // of the host's
  std::int64_t kernel_ns = 0;
  std::uint32_t kernels = 0, work_hash = 0;
};

struct RankBlocks {
  std::vector<LaneBlock> blocks;  // in order
  std::uint64_t sequence = 0;     // of collectives in a step: equal for peers
  std::uint32_t peers = 0;        // index into Peers::classes
};

// What the peers have at one place, over all of their steps.
struct BlockMedians {
  std::int64_t ns[kBlockTimes] = {};
  std::int64_t pause_ns = 0;
  std::uint32_t kernels = 0, work_hash = 0;  // the most frequent ones
  std::uint32_t observed = 0;
};

struct PeerClass {
  std::vector<std::uint32_t> ranks;
  std::vector<BlockMedians> all;  // by place, over all ranks of the class
};

struct Peers {
  std::vector<RankBlocks> ranks;
  std::vector<PeerClass> classes;
};

Peers find_peers(const Job& job);

// Those of a rank's own blocks; by place.
std::vector<BlockMedians> medians_of_rank(const Peers& peers, std::uint32_t rank);

// The same over the others of a rank's class; by place.
std::vector<BlockMedians> medians_without(const Peers& peers, std::uint32_t rank);

}  // namespace ridge
