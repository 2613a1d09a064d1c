// SliceMipmap: over one row of slices, the longest slice and the sum of durations of any run, in logarithmic time.
// Blocks of 8, 64, 512, ... slices, each summed up once: 3.5 bytes a slice on top of the row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/heap_bytes.h"

namespace ridge {

class SliceMipmap {
 public:
  struct Run {
    std::int64_t total_ns = 0;
    std::int64_t longest_ns = -1;
    std::uint32_t longest = 0;  // the first of the longest ones
  };

  void build(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> end_ns);
  // Slices [first, last), which must not be empty.
  Run run(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> end_ns, std::size_t first,
          std::size_t last) const;

  std::uint64_t heap_bytes() const { return ridge::heap_bytes(levels_); }

 private:
  static constexpr std::size_t kFan = 8;
  std::vector<std::vector<Run>> levels_;  // level k: blocks of 8^(k+1) slices, whole ones only
};

}  // namespace ridge
