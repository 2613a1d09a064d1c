// Each piece of work against its launch.
#include "facts/early_work.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/units.h"
#include "facts/scoped_work.h"

namespace ridge {
namespace {

// Clocks of host and device agree to a few microseconds; a larger lead is no noise.
constexpr std::int64_t kClockNoiseNs = 10'000;

}  // namespace

EarlyWork find_early_work(const Scope& scope) {
  EarlyWork early;
  const Model& model = scope.model();
  const std::span<const EventId> events = scope.trace().of(EventClass::device_work);
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const NodeId launch = model.links().launch[work.row];
    const std::int64_t lead = launch == kNoNode ? 0 : model.tree().start_ns[launch.value] - work.start_ns;
    if (lead <= kClockNoiseNs) return;
    early.events.push_back(events[work.row]);
    early.largest_lead_ns = std::max(early.largest_lead_ns, lead);
  });
  return early;
}

Diagnostic before_launch(std::size_t count, std::int64_t largest_lead_ns) {
  return {std::string(kBeforeLaunch), static_cast<std::int64_t>(count),
          "device events start before the call that launched them, by up to " +
              format_duration(static_cast<double>(largest_lead_ns)) + ": host and device clocks disagree",
          "warning"};
}

}  // namespace ridge
