// Metrics that cannot be right, or are worth a second look: how a performance reviewer reads a table of kernels before
// believing it.
//
// Over 100 % of a peak is physically impossible, so one of device, dtype, FLOPs, bytes or time is not what it seems; it is told
// with the likely reasons and never clipped. Over 90 % and under 10 % happen, and are rare on kernels that matter; under 1 %
// the metric is probably wrong where it rests on a guess about the kernel's arguments. A kernel matters when it takes a fair
// share of the time, in launches long enough that starting them is not the cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"
#include "trace/diagnostics.h"

namespace ridge {

enum class MetricProblem : std::uint8_t {
  over_peak_flops,
  over_peak_bandwidth,
  under_one_percent,
  near_peak,
  far_from_roof,
  source_differs,
  source_missing,
};
inline constexpr std::size_t kMetricProblems = static_cast<std::size_t>(MetricProblem::source_missing) + 1;

struct MetricProblemRow {
  std::string_view code;
  Severity severity;
  std::string_view message;
};
const MetricProblemRow& row_of(MetricProblem problem);

struct OddMetric {
  MetricProblem problem = MetricProblem::over_peak_flops;
  std::string_view kernel, label;  // the trace and its model own them
  std::int64_t device = 0, count = 0, time_ns = 0;
  std::optional<double> percent;  // of the peak or the roof
  double pct_gpu_time = 0;
  std::string reasons;  // the likely ones, likeliest first
};

// By problem, then most time first.
std::vector<OddMetric> find_odd_metrics(const Scope& scope);
Table metrics_table(const std::vector<OddMetric>& metrics);

}  // namespace ridge
