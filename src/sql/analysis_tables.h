// The analyses as tables of SQL: one for each table of each analysis, and one more for each grouping (--by), since a table's
// columns are fixed. `kernels()`, `kernels_by_op()`, `gpu_idle()`. A name that is taken or is a keyword gets a prefix.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/catalog.h"
#include "sql/relation.h"

namespace ridge::sql {

inline constexpr std::string_view kPrefix = "ridge_";  // of an analysis whose name is taken: ridge_ops()

struct AnalysisTable {
  std::string name;  // as SQL has it
  const AnalysisRow* analysis;
  std::string by;     // empty: no grouping is asked for
  std::string table;  // of the report
  std::vector<RelationColumn> columns;

  std::string line() const;
  std::string command() const;  // that shows the same: "ridge kernels --by op"
};

// Found by asking every analysis about a trace of a few events.
const std::vector<AnalysisTable>& analysis_tables();

// A table of a report. Where the report has none of that name it is one without rows.
std::unique_ptr<Relation> relation_of(std::shared_ptr<const Report> report, const AnalysisTable& table);

}  // namespace ridge::sql
