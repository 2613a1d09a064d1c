// check: what is wrong with the file, and where. Reports what the reader survived, what an analysis should know of, and which
// metrics of kernels cannot be right or are worth a second look (check_metrics.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/check/check_metrics.h"
#include "facts/scope.h"

namespace ridge {

struct CheckRow {
  std::string problem;
  std::int64_t count = 0;
  std::vector<std::uint64_t> offsets;  // where in the JSON, when known: the first Diagnostics::kMostOffsets
  Severity severity = Severity::info;
  std::string message;
};

struct Check {
  std::vector<CheckRow> rows;  // errors first, then warnings, then the rest
  std::vector<OddMetric> metrics;
};

Check compute_check(const Scope& scope);
Report report_check(const Check& check, bool strict);

// Slices of one track that overlap an earlier one without either holding the other.
std::vector<EventId> find_partial_overlaps(const Trace& trace);

}  // namespace ridge
