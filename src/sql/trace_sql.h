// All tables that SQL has of one trace: the schema's, those that Perfetto's users know, and the analyses.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ridge/result.h>

#include "facts/scope.h"
#include "sql/analysis_tables.h"
#include "sql/perfetto.h"
#include "sql/virtual_table.h"

namespace ridge::sql {

inline constexpr std::string_view kOfAnalysis = "analysis";  // of the tables that a scope narrows

// What a table is, without a trace.
struct TableInfo {
  std::string name;
  std::string_view kind;  // trace, perfetto, analysis
  std::string line;
  std::vector<RelationColumn> columns;
};
const std::vector<TableInfo>& table_list();

class TraceSql final : public Tables {
 public:
  // `scope`: what the analyses look at; the other tables hold the whole trace.
  explicit TraceSql(const Scope& scope);

  std::size_t count() const override { return table_list().size(); }
  const std::string& name(std::size_t table) const override { return table_list()[table].name; }
  Result<const Relation*> relation(std::size_t table) override;

  const PerfettoState& perfetto() const { return perfetto_; }
  const Relation* made(std::string_view name) const;  // nullptr: no query named it

 private:
  Result<std::unique_ptr<Relation>> make(std::size_t table);
  Result<std::unique_ptr<Relation>> make_analysis(const AnalysisTable& table);

  const Scope& scope_;
  const PerfettoState perfetto_;
  std::map<std::pair<const AnalysisRow*, std::string>, std::shared_ptr<const Report>> reports_;
  std::vector<std::unique_ptr<Relation>> relations_;
};

}  // namespace ridge::sql
