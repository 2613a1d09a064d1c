// The list of tables, and each one made.
#include "sql/trace_sql.h"

#include <algorithm>

#include "base/lasting.h"
#include "base/try.h"
#include "sql/schema_relation.h"

namespace ridge::sql {
namespace {

constexpr std::string_view kOfTrace = "trace", kOfPerfetto = "perfetto";

// `args` is Perfetto's, whose queries must run as they stand.
std::string name_in_sql(const schema::Table& table) {
  const bool taken = std::ranges::find(perfetto_tables(), table.name, &PerfettoTable::name) != perfetto_tables().end();
  return (taken ? "event_" : "") + std::string(table.name);
}

std::vector<TableInfo> list_tables() {
  std::vector<TableInfo> all;
  for (const schema::Table& table : schema::tables()) {
    TableInfo& info = all.emplace_back(TableInfo{name_in_sql(table), kOfTrace, std::string(table.line), {}});
    for (const schema::Column& column : table.columns) info.columns.push_back(described(column));
  }
  const Trace empty;
  const PerfettoState state(empty);
  for (const PerfettoTable& table : perfetto_tables()) {
    const auto relation = table.make(state);
    const auto columns = relation->columns();
    all.push_back({std::string(table.name), kOfPerfetto, std::string(table.line), {columns.begin(), columns.end()}});
  }
  for (const AnalysisTable& table : analysis_tables()) all.push_back({table.name, kOfAnalysis, table.line(), table.columns});
  return all;
}

}  // namespace

const std::vector<TableInfo>& table_list() {
  static const auto& kTables = lasting<std::vector<TableInfo>>(list_tables());
  return kTables;
}

TraceSql::TraceSql(const Scope& scope) : scope_(scope), perfetto_(scope.trace()), relations_(table_list().size()) {}

const Relation* TraceSql::made(std::string_view name) const {
  const auto found = std::ranges::find(table_list(), name, &TableInfo::name);
  return found == table_list().end() ? nullptr : relations_[static_cast<std::size_t>(found - table_list().begin())].get();
}

Result<const Relation*> TraceSql::relation(std::size_t table) {
  if (relations_[table] == nullptr) {
    TRY(relations_[table], make(table));
  }
  return relations_[table].get();
}

Result<std::unique_ptr<Relation>> TraceSql::make(std::size_t table) {
  if (table < schema::tables().size()) return relation_of(schema::tables()[table], scope_.trace());
  table -= schema::tables().size();
  if (table < perfetto_tables().size()) return perfetto_tables()[table].make(perfetto_);
  return make_analysis(analysis_tables()[table - perfetto_tables().size()]);
}

Result<std::unique_ptr<Relation>> TraceSql::make_analysis(const AnalysisTable& table) {
  std::shared_ptr<const Report>& report = reports_[{table.analysis, table.by}];
  if (report == nullptr) {
    Arguments arguments;
    if (!table.by.empty()) arguments["by"] = table.by;
    TRY(Report made, table.analysis->run(scope_, arguments));
    report = std::make_shared<const Report>(std::move(made));
  }
  return relation_of(report, table);
}

}  // namespace ridge::sql
