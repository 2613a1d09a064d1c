// SQL on a trace: an analysis like the others, whose parameter is a query.
#pragma once

#include <string_view>

#include <ridge/report.h>
#include <ridge/result.h>

#include "analysis/catalog.h"
#include "facts/scope.h"

namespace ridge::sql {

inline constexpr std::string_view kGateFailedCode = "gate_failed";  // of the diagnostic that says why a gate failed

// Its row of the engine's catalog.
const AnalysisRow& sql_row();

// The rows of one query as a table `sql`, or the list of tables.
Result<Report> run_sql(const Scope& scope, const Arguments& arguments);

// The same for a query that is given as it stands.
Result<Table> answer_query(const Scope& scope, std::string_view query, const Arguments& arguments);

}  // namespace ridge::sql
