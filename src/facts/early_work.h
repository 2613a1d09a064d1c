// Device work that starts before the call that launched it, which no device does: the clocks of host and device disagree, and
// how long either waited for the other is known no better than they agree.
#pragma once

#include <cstdint>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

struct EarlyWork {
  std::vector<EventId> events;
  std::int64_t largest_lead_ns = 0;
};

inline constexpr std::string_view kBeforeLaunch = "before_launch";
EarlyWork find_early_work(const Scope& scope);
Diagnostic before_launch(std::size_t count, std::int64_t largest_lead_ns);

}  // namespace ridge
