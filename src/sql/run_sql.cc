// One statement, prepared, stepped through and put into a table.
#include "sql/run_sql.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "base/try.h"
#include "base/utf8.h"
#include "sql/answer.h"
#include "sql/connection.h"
#include "sql/dialect.h"
#include "sql/trace_sql.h"

namespace ridge::sql {
namespace {

constexpr Parameter kParameters[] = {
    {"query", Type::text, "the query: one SELECT, in SQLite's dialect"},
    {"query_file", Type::text, "file with the query, - for standard input", true},
    {"tables", Type::boolean, "list all tables and their columns instead"},
    {"gate", Type::boolean, "exit with 3 if the query gives a row"},
    {"max_seconds", Type::number, "give up a query after this time (default 60)"},
    {"max_memory", Type::integer, "most bytes that a query may take (default 1073741824)"},
};

constexpr AnalysisRow kRow = {
    {"sql", "ask in SQL: the trace's tables, Perfetto's, and every analysis", kParameters, "query"}, run_sql, true};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

template <class Number>
Result<Number> number_argument(const Arguments& arguments, std::string_view name, Number otherwise, Number most) {
  const auto given = arguments.find(name);
  if (given == arguments.end()) return otherwise;
  const char* const end = given->second.data() + given->second.size();
  Number value = 0;
  const auto [stop, error] = std::from_chars(given->second.data(), end, value);
  if (error == std::errc{} && stop == end && value > 0 && value <= most) return value;
  std::string flag = "--" + std::string(name);
  std::ranges::replace(flag, '_', '-');
  return fail(ErrorCode::usage, "invalid value '" + given->second + "' for " + flag, "", "a number above 0");
}

Result<Limits> read_limits(const Arguments& arguments) {
  constexpr double kMostSeconds = 86'400;
  Limits limits;
  TRY(limits.seconds, number_argument(arguments, "max_seconds", limits.seconds, kMostSeconds));
  TRY(const std::int64_t bytes,
      number_argument(arguments, "max_memory", static_cast<std::int64_t>(limits.memory_bytes), INT64_MAX));
  limits.memory_bytes = static_cast<std::uint64_t>(bytes);
  return limits;
}

// Line and column of a place in the query.
std::string place_in(std::string_view query, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) > query.size()) return {};
  const std::string_view before = query.substr(0, static_cast<std::size_t>(offset));
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + " of the query";
}

Result<Statement> prepare(const Connection& connection, std::string_view query) {
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v3(connection.handle(), query.data(), static_cast<int>(query.size()), 0, &made, &rest);
  Statement statement(made);
  if (code != SQLITE_OK) {
    Error error = connection.error(code);
    error.where = place_in(query, sqlite3_error_offset(connection.handle()));
    return tl::unexpected(std::move(error));
  }
  if (statement == nullptr) return fail(ErrorCode::usage, "the query is empty", "", "ridge sql TRACE \"select ...\"");
  const std::string_view behind = query.substr(static_cast<std::size_t>(rest - query.data()));
  if (is_more_than_blank(behind))
    return fail(ErrorCode::usage, "one query at a time", place_in(query, static_cast<int>(rest - query.data())),
                "WITH name AS (select ...) names a part of a query");
  if (sqlite3_column_count(statement.get()) == 0)
    return fail(ErrorCode::usage, "SQL is for reading: the query gives no rows", "", "one SELECT, or WITH ... SELECT");
  return statement;
}

Table list_of_tables() {
  Table table;
  table.name = "sql";
  table.columns = {{"table", Type::text}, {"column", Type::text}, {"type", Type::text},
                   {"unit", Type::text},  {"kind", Type::text},   {"meaning", Type::text}};
  constexpr std::string_view kTypes[] = {"text", "integer", "number", "boolean"};
  constexpr std::string_view kUnits[] = {"", "count", "ns", "bytes", "flop", "percent", "flop_per_s", "bytes_per_s"};
  for (const TableInfo& info : table_list()) {
    for (const RelationColumn& column : info.columns) {
      const std::string_view unit = kUnits[static_cast<std::size_t>(column.unit)];
      table.add_row({info.name, column.name, std::string(kTypes[static_cast<std::size_t>(column.type)]),
                     unit.empty() ? Cell() : Cell(std::string(unit)), std::string(info.kind),
                     column.line.empty() ? info.line : column.line});
    }
  }
  return table;
}

// Tables that a query named and that --step and the like do not narrow.
std::string whole_tables(const TraceSql& tables) {
  std::string names;
  for (const TableInfo& info : table_list()) {
    if (info.kind != kOfAnalysis && tables.made(info.name) != nullptr) names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

// The query, or why there is none.
Result<std::string> query_of(const Arguments& arguments) {
  const auto query = arguments.find("query"), file = arguments.find("query_file");
  if (query != arguments.end() && file != arguments.end())
    return fail(ErrorCode::usage, "a query and --query-file are two queries", "", "give one of them");
  if (file != arguments.end()) return file->second;
  if (query != arguments.end()) return query->second;
  return fail(ErrorCode::usage, "sql needs a query", "",
              "ridge sql trace.json \"select name, count(*), sum(dur) from slice group by 1 order by 3 desc\"; --tables lists "
              "what there is");
}

}  // namespace

const AnalysisRow& sql_row() { return kRow; }

Result<Table> answer_query(const Scope& scope, std::string_view query, const Arguments& arguments, std::string* whole) {
  TRY(const Limits limits, read_limits(arguments));
  if (auto told = refuse_dialect(query)) return tl::unexpected(std::move(*told));
  TraceSql tables(scope);
  TRY(const std::unique_ptr<Connection> connection, Connection::open(tables, limits));
  TRY(const Statement statement, prepare(*connection, query));
  Answer answer(statement.get(), tables);
  for (;;) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) return tl::unexpected(connection->error(code));
    answer.add_row(statement.get());
    if (answer.bytes() > limits.memory_bytes)
      return fail(ErrorCode::too_large, "the answer takes more than " + std::to_string(limits.memory_bytes) + " bytes", "",
                  "add LIMIT, or raise --max-memory");
  }
  if (whole != nullptr) *whole = whole_tables(tables);
  return std::move(answer).table();
}

Result<Report> run_sql(const Scope& scope, const Arguments& arguments) {
  Report report;
  if (arguments.contains("tables")) {
    report.tables.push_back(list_of_tables());
    return report;
  }
  TRY(const std::string query, query_of(arguments));
  std::string whole;
  TRY(Table table, answer_query(scope, query, arguments, &whole));
  if (!whole.empty() && (scope.narrowed() || scope.filtered()))
    report.diagnostics.push_back({std::string(kWholeTraceCode), 1,
                                  "--step, --from, --to, --gpu and --filter narrow the tables of analyses alone, such as "
                                  "kernels(): the whole trace is in " +
                                      whole,
                                  "warning"});
  if (arguments.contains("gate") && !table.empty()) {
    report.gate_failed = true;
    report.diagnostics.push_back(
        {std::string(kGateFailedCode), static_cast<std::int64_t>(table.size()), "the query gives rows", "error"});
  }
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace ridge::sql
