// How many blocks of a kernel a multiprocessor holds at a time, by the rules of NVIDIA's occupancy calculator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ridge {

// What a multiprocessor holds. A warp's registers are given out in units, by one of four schedulers; a block's shared memory in
// units, with what the driver keeps of each block.
struct MultiprocessorLimits {
  std::int64_t threads = 0, blocks = 0;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0, shared_unit = 1, shared_kept = 0;
};

// By NVIDIA's compute capability; nothing for one that is not in the table.
std::optional<MultiprocessorLimits> multiprocessor_limits(std::int64_t major, std::int64_t minor);
// The same of a device of the table, by the name of its row; nothing for other vendors' devices: their traces tell no
// registers.
std::optional<MultiprocessorLimits> multiprocessor_limits(std::string_view device);

struct BlockNeeds {
  std::int64_t threads = 0;
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  // static and dynamic
};

// 0 where not even one fits, nothing where the needs are no launch's.
std::optional<std::int64_t> resident_blocks(const MultiprocessorLimits& limits, const BlockNeeds& block);

}  // namespace ridge
