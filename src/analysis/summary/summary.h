// summary: the page that is read first. Puts other analyses' structs side by side; computes little of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "analysis/categories/categories.h"
#include "analysis/compile/compile.h"
#include "analysis/findings/findings.h"
#include "analysis/gpu/gpu.h"
#include "analysis/graphs/graphs.h"
#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "facts/breaks.h"
#include "facts/iteration_time.h"
#include "facts/scope.h"
#include "facts/utilisation.h"

namespace ridge {

// Something that the trace does not hold, and what would add it.
struct Lack {
  std::string what;
  std::string remedy;
};

struct Summary {
  const Model* model = nullptr;
  TimeRange window;
  std::vector<std::size_t> iterations;  // indexes, of the scope
  IterationTime time;
  std::int64_t own_events = 0;                  // device work, without what was queued before the recording
  std::int64_t own_busy_ns = 0;                 // its union inside the iterations, summed over devices
  std::optional<double> first_iteration_ratio;  // to the median; nothing for a single iteration
  std::size_t behind_first = 0;                 // index of the iteration behind the first, in the list
  bool first_is_outlier = false;

  Gpu gpu;
  Categories categories;
  Kernels kernels;
  Ops ops;
  Graphs graphs;
  Breaks breaks;
  Compile compile;
  Utilisation use;
  Findings findings;
  // What a step takes when nobody records it, about; nothing where none can be replayed.
  std::optional<std::int64_t> step_ns, step_low_ns, step_high_ns;
  std::optional<std::int64_t> measured_ns;  // --step-time
  std::vector<Lack> lacks;
  std::vector<Diagnostic> unknown_costs;  // why `use` is not known
};

Summary compute_summary(const Scope& scope, std::optional<std::int64_t> measured_ns = {});
Report report_summary(const Summary& summary);

}  // namespace ridge
