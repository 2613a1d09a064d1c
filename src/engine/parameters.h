// The flags that many analyses take, each with what it changes: one table, from which help, validation and the keys of what
// the engine keeps derive. What an analysis alone takes stands in its row of the catalog.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/result.h>

#include "analysis/catalog.h"

namespace ridge {

// The analyses, and beside them what stands on all of them: SQL.
std::span<const AnalysisRow> engine_catalog();

std::span<const Parameter> shared_parameters();
std::vector<Parameter> shared_parameters(Changes what);

// Equal for arguments that make the same of what they change.
std::string key_of(const Arguments& arguments, Changes what);

// All that an analysis takes: its own, then the shared ones, but for those that its own describe.
std::span<const Parameter> parameters_of(const AnalysisRow& row);

// An unknown analysis is an error with the nearest names.
Result<const AnalysisRow*> find_analysis(std::string_view name);
Result<void> check_names(const AnalysisRow& row, const Arguments& arguments);

}  // namespace ridge
