// What is asked for each analysis, and its answer as a relation.
#include "sql/analysis_tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include <sqlite3.h>

#include "base/lasting.h"
#include "ingest/reader.h"
#include "sql/perfetto.h"
#include "trace/schema/schema.h"

namespace ridge::sql {
namespace {

struct Groupings {
  std::string_view analysis;
  std::span<const std::string_view> words;  // that its --by takes
};
constexpr std::string_view kOfKernels[] = {"launch", "op", "shape", "annotation", "module", "graph", "stream", "stage"};
constexpr std::string_view kOfCategories[] = {"annotation", "module", "graph", "stream", "stage"};
constexpr std::string_view kOfOps[] = {"shape", "module", "location", "annotation", "phase", "stage"};
constexpr std::string_view kOfCritical[] = {"op", "location"};
constexpr Groupings kGroupings[] = {
    {"kernels", kOfKernels}, {"categories", kOfCategories}, {"ops", kOfOps}, {"critical", kOfCritical}};

bool is_taken(std::string_view name) {
  const bool of_perfetto = std::ranges::find(perfetto_tables(), name, &PerfettoTable::name) != perfetto_tables().end();
  return of_perfetto || schema::find_table(name) != nullptr ||
         sqlite3_keyword_check(name.data(), static_cast<int>(name.size())) != 0;
}

RelationColumn report_column(const Column& column) { return {column.name, column.type, column.unit, column.role, {}}; }

std::vector<RelationColumn> report_columns(const Table& table) {
  std::vector<RelationColumn> columns;
  for (const Column& column : table.columns) columns.push_back(report_column(column));
  return columns;
}

// The tables of one answer: the first bears the analysis's name.
void add_tables(const AnalysisRow& row, std::string_view by, const Report& report, std::vector<AnalysisTable>* all) {
  std::string base = is_taken(row.info.name) ? std::string(kPrefix) : "";
  base += row.info.name;
  if (!by.empty()) base.append("_by_").append(by);
  for (const Table& table : report.tables) {
    const bool first = &table == &report.tables.front();
    const bool says_whose = table.name.starts_with(std::string(row.info.name) + "_");  // memory_devices
    std::string name = first ? base : says_whose ? table.name : base + "_" + table.name;
    if (is_taken(name)) name.insert(0, kPrefix);
    const bool met = std::ranges::find(*all, name, &AnalysisTable::name) != all->end();
    if (!met) all->push_back({std::move(name), &row, std::string(by), table.name, report_columns(table)});
    if (!by.empty()) break;  // what else an answer has does not depend on the grouping
  }
}

// One event of each sort that an analysis looks for: without any some answer with fewer tables.
constexpr std::string_view kOneOfEach = R"({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"External id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 2, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "cpu_op", "name": "Torch-Compiled Region: 0/0", "pid": 1, "tid": 1, "ts": 20, "dur": 9, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "## Call CompiledFxGraph f ##", "pid": 1, "tid": 1, "ts": 21, "dur": 6, "args": {}},
{"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 1, "tid": 1, "ts": 40, "dur": 6, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "TorchDynamo Cache Lookup", "pid": 1, "tid": 1, "ts": 50, "dur": 6, "args": {}}
]})";

std::vector<AnalysisTable> find_tables() {
  const auto trace = read_trace_bytes(kOneOfEach, "", {});
  if (!trace) return {};
  const Model model(**trace);
  const Scope scope(model);
  std::vector<AnalysisTable> all;
  for (const AnalysisRow& row : catalog()) {
    if (row.run == nullptr || !row.info.operand.empty()) continue;  // takes several traces, none, or the name of something
    if (const auto report = row.run(scope, {})) add_tables(row, "", *report, &all);
    for (const Groupings& groupings : kGroupings) {
      if (groupings.analysis != row.info.name) continue;
      for (const std::string_view by : groupings.words) {
        if (const auto report = row.run(scope, {{"by", std::string(by)}})) add_tables(row, by, *report, &all);
      }
    }
  }
  return all;
}

class ReportRelation final : public Relation {
 public:
  ReportRelation(std::shared_ptr<const Report> report, const AnalysisTable& about) : report_(std::move(report)) {
    const auto found = std::ranges::find(report_->tables, about.table, &Table::name);
    if (found != report_->tables.end()) table_ = &*found;
    columns_ = table_ != nullptr ? report_columns(*table_) : about.columns;
  }

  std::span<const RelationColumn> columns() const override { return columns_; }
  std::uint64_t size() const override { return table_ == nullptr ? 0 : table_->size(); }
  void read(std::size_t column, std::uint64_t first, const ValueRun& out) const override {
    const Column& from = table_->columns[column];
    for (std::size_t i = 0; i < out.known.size(); ++i) {
      const CellView cell = from.at(first + i);
      out.known[i] = !is_null(cell);
      if (is_null(cell)) continue;
      switch (from.type) {
        case Type::text: out.texts[i] = std::get<std::string_view>(cell); break;
        case Type::number: out.numbers[i] = std::get<double>(cell); break;
        case Type::boolean: out.integers[i] = std::get<bool>(cell) ? 1 : 0; break;
        default: out.integers[i] = std::get<std::int64_t>(cell); break;
      }
    }
  }

 private:
  std::shared_ptr<const Report> report_;
  const Table* table_ = nullptr;
  std::vector<RelationColumn> columns_;
};

}  // namespace

std::string AnalysisTable::command() const {
  return "ridge " + std::string(analysis->info.name) + (by.empty() ? "" : " --by " + by);
}

std::string AnalysisTable::line() const {
  return "What `" + command() + "` shows: " + std::string(analysis->info.description) + ".";
}

const std::vector<AnalysisTable>& analysis_tables() {
  static const auto& kTables = lasting<std::vector<AnalysisTable>>(find_tables());
  return kTables;
}

std::unique_ptr<Relation> relation_of(std::shared_ptr<const Report> report, const AnalysisTable& table) {
  return std::make_unique<ReportRelation>(std::move(report), table);
}

}  // namespace ridge::sql
