// Roofs, and what a compiler leaves.
#include "analysis/findings/least_time.h"

#include <algorithm>

namespace ridge {

std::int64_t most_gain_ns(const Facts& facts, const WorkSlot& slot, std::int64_t device) {
  constexpr double kCacheFaster = 4;  // than the memory: the L2 of an H200 reads at 5.5 to 11 TB/s, by size
  const CostModel& costs = facts.scope().costs();
  const Roof roof = costs.roof(slot.work.row);
  if (!roof.roof_ns) return slot.owned_ns;
  const LaunchCost& cost = costs[slot.work.row];
  const DeviceSpec* spec = costs.device(device);
  const double bytes = cost.bytes_read.value_or(0) + cost.bytes_written.value_or(0);
  double least = *roof.roof_ns;
  if (spec != nullptr && bytes <= std::max(spec->l2_bytes, spec->memory_side_cache_bytes)) {
    const auto duration = static_cast<double>(slot.work.end_ns - slot.work.start_ns);
    least = std::max(least / kCacheFaster, roof.pct_peak_flops.value_or(0) / 100 * duration);
  }
  return std::max<std::int64_t>(0, slot.owned_ns - static_cast<std::int64_t>(least));
}

std::int64_t most_gain_compiled_ns(const Facts& facts, const WorkSlot& slot, std::int64_t device) {
  constexpr double kFaster = 0.9;
  const std::uint32_t row = slot.work.row;
  const Category category = facts.identity(row).category;
  if (category == Category::conv) return most_gain_ns(facts, slot, device);
  const bool between = slot.work.sort == WorkSort::copy && facts.kernel(row).find("DtoD") == std::string_view::npos;
  const bool compiled = facts.identity(row).library == "inductor" || facts.by_graph_launch(row);
  const bool product = category == Category::gemm || category == Category::attention;
  if (!product && !between && !compiled && slot.work.sort != WorkSort::comm) return slot.owned_ns;
  return slot.owned_ns - static_cast<std::int64_t>(kFaster * static_cast<double>(slot.owned_ns));
}

void reach_compiled(const Facts& facts, const std::vector<bool>& taken, Claim* claim) {
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
    const DeviceLedger& device = facts.ledger().devices()[d];
    for (std::size_t i = 0; i < device.work.size(); ++i) {
      const WorkSlot& slot = device.work[i];
      if (!taken.empty() && taken[slot.work.row]) {
        claim->reach_work(d, i, INT64_MAX, 0);
      } else {
        claim->reach_taken_work(d, i, most_gain_compiled_ns(facts, slot, device.device));
      }
    }
    for (std::size_t i = 0; i < device.idle.size(); ++i) {
      if (device.idle[i].next_work != kNoWork && !device.idle[i].in_graph) claim->reach_idle(d, i);
    }
  }
}

}  // namespace ridge
