// What a chain of kernels takes as one that a compiler generates: it reads what none of them made, writes what none of them
// reads, at the part of the bandwidth that such kernels reach. Sizes are those recorded, else what the kernels' grids tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/findings/chain_link.h"
#include "analysis/findings/grid_size.h"

namespace ridge {

// What any kernel takes at least.
inline constexpr std::int64_t kShortestKernelNs = 2'000;

class FusedTime {
 public:
  explicit FusedTime(Facts& facts) : facts_(facts), sizes_(facts) {}

  // Of the largest tensor that a kernel goes over; 0 when that is not told.
  double elements(std::uint32_t row);
  // `chain`: indices of slots; `longest_ns`: what the longest of them takes.
  std::int64_t ns(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain, std::int64_t longest_ns,
                  std::int64_t device);

 private:
  // At the full bandwidth.
  struct Traffic {
    bool known = false;  // of every kernel; else the times that they took tell
    double largest_ns = 0, reached = 0;
    double not_made_ns = 0;  // all that is read less all that was written before: a tensor may be read several times
    double least_ns = 0;     // if each reads all it can of what was made before
    double longest_ns = 0;   // as it ran, of those that are no scan
    bool inside = false;     // the large tensors are made and summed up within: none of them need ever lie in memory
    double arithmetic_ns = 0, doubles_ns = 0;  // all operations, and those in double precision
  };

  Traffic traffic_of(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain, std::int64_t device);
  // By its largest kernel.
  std::optional<double> by_largest(const std::vector<WorkSlot>& slots, std::span<const std::size_t> chain, std::int64_t device);
  std::optional<std::pair<double, double>> moved(const WorkSlot& slot, std::int64_t device) const;  // bytes read and written
  std::optional<double> roof_ns(const WorkSlot& slot, std::int64_t device) const;
  double bytes_a_ns(std::int64_t device) const;
  double generated_ns(const WorkSlot& slot, std::int64_t device);
  bool turns(const WorkSlot& slot);
  bool sums_all(std::uint32_t row) const;

  Facts& facts_;
  GridSizes sizes_;
};

}  // namespace ridge
