// The catalog: one row per analysis. Subcommands, help, completion and HTTP routes all come from it.
#pragma once

#include <span>

#include <ridge/analysis.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "analysis/scope.h"

namespace ridge {

struct AnalysisRow {
  AnalysisInfo info;
  Result<Report> (*run)(const Scope& scope, const Arguments& arguments);  // fills tables and series; the engine adds the rest
};

std::span<const AnalysisRow> catalog();

// One per analysis, each in its own file.
Result<Report> run_info(const Scope& scope, const Arguments& arguments);
Result<Report> run_check(const Scope& scope, const Arguments& arguments);

}  // namespace ridge
