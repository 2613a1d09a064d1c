// critical: what the length of a step is made of, and other paths that are nearly as long.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"
#include "predict/critical_path.h"

namespace ridge {

enum class CriticalBy : std::uint8_t { name, op, location };

struct CriticalRow {
  PathSort sort = PathSort::host;
  std::string name;
  std::int64_t count = 0;  // of the scope
  std::int64_t total_ns = 0;
  std::int64_t time_ns = 0;  // of a step
};

struct CriticalNear {
  std::int64_t time_ns = 0;  // of a step
  double shared_pct = 0;     // with the critical path
  std::array<std::int64_t, kPathSorts> by_sort = {};
  std::string mostly = {};
};

struct Critical {
  std::vector<CriticalRow> rows = {};  // most time first; their time_ns add up to step_ns
  std::vector<CriticalNear> near = {};
  std::int64_t step_ns = 0;
  std::int64_t iterations = 0;
  bool without_profiler = false;
  bool no_device_events = false;
  std::string why_not = {};
};

// `measured_ns`: the step as somebody measured it without the profiler.
Critical compute_critical(const Scope& scope, CriticalBy by, bool without_profiler,
                          std::optional<std::int64_t> measured_ns = {});
Report report_critical(const Critical& critical);

// What a user calls the ways to name pieces; in the order of CriticalBy.
std::span<const std::string_view> critical_by_names();

}  // namespace ridge
