// whatif: how long a step takes, as recorded, without the profiler, and after changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"
#include "predict/changes.h"
#include "predict/what_if.h"

namespace ridge {

inline constexpr std::string_view kRecordedStep = "recorded", kReplayedStep = "replayed",
                                  kStepWithoutProfiler = "without_profiler";
// All that --do gave, at once; only where there are several.
inline constexpr std::string_view kTogether = "together";

struct Scenario {
  std::string name;
  std::optional<std::int64_t> step_ns = {};
  std::optional<std::int64_t> saves_ns = {};  // of the step that changes start from
  std::optional<double> saves_pct = {}, low_pct = {}, high_pct = {};
  std::string basis = {};
};

struct WhatIfAnswer {
  std::vector<Scenario> rows;
  std::string why_not;  // nothing could be replayed
  bool no_device_events = false;
};

WhatIfAnswer compute_whatif(const Scope& scope, const std::vector<Change>& changes, WhatIf::From from = {});
Report report_whatif(const WhatIfAnswer& answer);

}  // namespace ridge
