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
// All findings at once.
inline constexpr std::string_view kAllFindings = "all";
// All that --do gave, at once; only where there are several.
inline constexpr std::string_view kTogether = "together";

struct Scenario {
  std::string name;
  std::optional<std::int64_t> step_ns = {};
  std::optional<std::int64_t> saves_ns = {};  // of the step that changes start from
  std::optional<double> saves_pct = {}, low_pct = {}, high_pct = {};
  std::string basis = {};
};

// What --do asks: a change, or that a finding of this id is mended.
struct Asked {
  std::string text;
  std::optional<Change> change = {};  // nothing: a finding
  std::string finding = {};           // its id
};

struct WhatIfAnswer {
  std::vector<Scenario> rows;
  std::string why_not;  // nothing could be replayed
  bool no_device_events = false;
  std::optional<Diagnostic> table_use = std::nullopt;  // what --table served, where one was given
  std::vector<Diagnostic> doubts = {};                 // why the recording itself may mislead
};

WhatIfAnswer compute_whatif(const Scope& scope, const std::vector<Asked>& asked, WhatIf::From from = {},
                            std::optional<std::int64_t> measured_ns = {});
Report report_whatif(const WhatIfAnswer& answer);

}  // namespace ridge
