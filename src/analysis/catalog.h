// The catalog: one row per analysis. Subcommands, help, completion and HTTP routes all come from it.
#pragma once

#include <span>

#include <ridge/analysis.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "facts/scope.h"

namespace ridge {

struct Job;

struct AnalysisRow {
  AnalysisInfo info;
  Result<Report> (*run)(const Scope& scope, const Arguments& arguments);  // fills tables and series; the engine adds the rest
  bool costs = false;  // asks for FLOPs, bytes or roofs: takes the flags that say of which device
  Result<Report> (*run_alone)(const CostOptions& costs,
                              const Arguments& arguments) = nullptr;  // instead of `run`: needs no trace
  Result<Report> (*compare)(std::span<const Scope> scopes,
                            const Arguments& arguments) = nullptr;  // instead of `run`: takes every trace that is open
  // Instead of `run`: takes a whole job; `before`: another recording of it, to say what changed, or null.
  Result<Report> (*join)(const Job& job, const Job* before, const Arguments& arguments) = nullptr;
};

std::span<const AnalysisRow> catalog();

// One per analysis, each in its own file.
Result<Report> run_summary(const Scope& scope, const Arguments& arguments);
Result<Report> run_findings(const Scope& scope, const Arguments& arguments);
Result<Report> run_info(const Scope& scope, const Arguments& arguments);
Result<Report> run_check(const Scope& scope, const Arguments& arguments);
Result<Report> run_gpu(const Scope& scope, const Arguments& arguments);
Result<Report> run_graphs(const Scope& scope, const Arguments& arguments);
Result<Report> run_breaks(const Scope& scope, const Arguments& arguments);
Result<Report> run_compile(const Scope& scope, const Arguments& arguments);
Result<Report> run_autotune(const Scope& scope, const Arguments& arguments);
Result<Report> run_gaps(const Scope& scope, const Arguments& arguments);
Result<Report> run_launches(const Scope& scope, const Arguments& arguments);
Result<Report> run_categories(const Scope& scope, const Arguments& arguments);
Result<Report> run_kernels(const Scope& scope, const Arguments& arguments);
Result<Report> run_kernel(const Scope& scope, const Arguments& arguments);
Result<Report> run_roofline(const Scope& scope, const Arguments& arguments);
Result<Report> run_copies(const Scope& scope, const Arguments& arguments);
Result<Report> run_collectives(const Scope& scope, const Arguments& arguments);
Result<Report> run_ops(const Scope& scope, const Arguments& arguments);
Result<Report> run_memory(const Scope& scope, const Arguments& arguments);
Result<Report> run_predict(const Scope& scope, const Arguments& arguments);
Result<Report> run_critical(const Scope& scope, const Arguments& arguments);
Result<Report> run_whatif(const Scope& scope, const Arguments& arguments);
Result<Report> run_diff(std::span<const Scope> scopes, const Arguments& arguments);

// Of a whole job.
Result<Report> run_ranks(const Job& job, const Job* before, const Arguments& arguments);
Result<Report> run_arrivals(const Job& job, const Job* before, const Arguments& arguments);

// Those that need no trace.
Result<Report> run_predict_alone(const CostOptions& costs, const Arguments& arguments);
Result<Report> run_devices(const CostOptions& costs, const Arguments& arguments);

}  // namespace ridge
