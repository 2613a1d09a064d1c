// predict: what each op call should take on a device: the calls of --ops, which need no trace, or those of a trace, each
// distinct one once, with what it took there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>
#include <ridge/result.h>

#include "cost/cost_model.h"
#include "facts/scope.h"
#include "predict/expected_time.h"

namespace ridge {

struct PredictedCall {
  std::string op, shapes, dtypes, device;
  CallFeatures features;
  std::optional<double> flops, bytes, roof_ns;
  std::optional<ExpectedTime> expected;
  std::string why;         // where there is none
  std::string config;      // of a product by Triton
  std::int64_t rank = 0;   // of its configurations, the fastest first
  std::int64_t count = 0;  // in a trace: how often, and how long all of them took
  double time_ns = 0;
};

struct Predictions {
  std::vector<PredictedCall> calls;
  bool of_trace = false, with_features = false, with_configs = false;
  std::optional<Diagnostic> table_use = std::nullopt;  // what --table served, where one was given
};

// The lines of --ops, in order. Without a device it is the one that was measured.
Result<Predictions> compute_predictions(const CostOptions& costs, const std::string& lines);
// The calls of a trace, most time first.
Result<Predictions> compute_predictions(const Scope& scope);
Report report_predictions(const Predictions& predictions);

}  // namespace ridge
