// What is open in the ledger behind the last rule, by cause.
#include "analysis/findings/unclaimed_idle.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/saturating.h"
#include "base/units.h"

namespace ridge {
namespace {

constexpr double kNotablePct = 20;

using TimeByCause = std::array<std::int64_t, kIdleCauses>;

std::int64_t sum_of(const TimeByCause& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0},
                         [](std::int64_t sum, std::int64_t time) { return saturating_add(&sum, time), sum; });
}

TimeByCause open_idle(const DeviceLedger& device) {
  TimeByCause times{};
  for (const IdleSlot& slot : device.idle) {
    // Late launches are launch_bound's to judge: what it leaves out is the recorder's doing.
    if (slot.piece.cause == IdleCause::launch) continue;
    saturating_add(&times[static_cast<std::size_t>(slot.piece.cause)], slot.open_ns);
  }
  return times;
}

}  // namespace

std::vector<UnclaimedIdle> find_unclaimed_idle(const Ledger& ledger) {
  TimeByCause most{};
  for (const DeviceLedger& device : ledger.devices()) {
    if (const TimeByCause times = open_idle(device); sum_of(times) > sum_of(most)) most = times;
  }
  std::vector<UnclaimedIdle> found;
  if (ledger.span_ns() <= 0) return found;
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    const double pct = 100.0 * static_cast<double>(most[c]) / static_cast<double>(ledger.span_ns());
    if (pct >= kNotablePct) found.push_back({static_cast<IdleCause>(c), pct});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &UnclaimedIdle::pct);
  return found;
}

std::string text_of(const std::vector<UnclaimedIdle>& idle) {
  double pct = 0;
  std::string causes;
  for (const UnclaimedIdle& each : idle) {
    pct += each.pct;
    causes += fmt::format("{}{} {} ({})", causes.empty() ? "" : ", ", name_of(each.cause), format_percent(each.pct),
                          meaning_of(each.cause));
  }
  return fmt::format("the device idles {} of the iteration for causes that no finding covers: {}; gaps lists the time",
                     format_percent(pct), causes);
}

}  // namespace ridge
