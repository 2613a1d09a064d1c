// SQL on a trace: an analysis like the others, whose parameter is a query.
#pragma once

#include <string_view>

#include <ridge/report.h>
#include <ridge/result.h>

#include "analysis/catalog.h"
#include "facts/scope.h"

namespace ridge::sql {

inline constexpr std::string_view kGateFailedCode = "gate_failed";  // of the diagnostic that says why a gate failed

// Of the diagnostic that says which tables of a query a scope does not narrow.
inline constexpr std::string_view kWholeTraceCode = "whole_trace";

// Its row of the engine's catalog.
const AnalysisRow& sql_row();

// The rows of one query as a table `sql`, or the list of tables.
Result<Report> run_sql(const Scope& scope, const Arguments& arguments);

// The same for a query that is given as it stands. `whole`: the tables it named that hold the whole trace, whatever the scope.
Result<Table> answer_query(const Scope& scope, std::string_view query, const Arguments& arguments,
                           std::string* whole = nullptr);

}  // namespace ridge::sql
