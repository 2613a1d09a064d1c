// The analyses in SQL: the same rows as the analysis itself, every table and every grouping under a name.
#include <algorithm>
#include <set>

#include "asked.h"
#include "made_sql_trace.h"
#include "sql/analysis_tables.h"
#include "sql/trace_sql.h"
#include "support/files.h"

namespace ridge::sql {
namespace {

TEST(SqlAnalyses, GiveTheirRows) {
  const Asked asked(test::fixture("fault_item_sync"));
  for (const AnalysisTable& table : analysis_tables()) {
    Arguments arguments;
    if (!table.by.empty()) arguments["by"] = table.by;
    const auto report = table.analysis->run(asked.scope(), arguments);
    ASSERT_TRUE(report) << table.name;
    const auto found = std::ranges::find(report->tables, table.table, &Table::name);
    const std::size_t rows = found == report->tables.end() ? 0 : found->size();
    EXPECT_EQ(asked.rows("select count(*) from " + table.name + "()"), std::to_string(rows) + "\n") << table.name;
    if (found == report->tables.end()) continue;
    const auto answer = answer_query(asked.scope(), "select * from " + table.name, {});
    ASSERT_TRUE(answer) << table.name << " " << answer.error().message;
    ASSERT_EQ(answer->columns.size(), found->columns.size()) << table.name;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < found->columns.size(); ++column)
        EXPECT_EQ(answer->cell(row, column), found->cell(row, column)) << table.name << " " << found->columns[column].name;
    }
  }
}

// What is listed without a trace is there with one: names and columns of every table of every analysis.
TEST(SqlAnalyses, AreListedWhole) {
  for (const char* name : {"fault_item_sync", "gpt_compiled_train", "ddp_gloo_rank0", "graph_breaks", "cpu_activity_only"}) {
    const Asked asked(test::fixture(name));
    for (const AnalysisRow& row : catalog()) {
      if (row.run == nullptr || !row.info.operand.empty()) continue;
      const auto report = row.run(asked.scope(), {});
      ASSERT_TRUE(report);
      for (const Table& table : report->tables) {
        if (row.info.name == "summary" && table.name == "findings") continue;  // they are findings()
        const auto listed = std::ranges::find_if(analysis_tables(), [&](const AnalysisTable& t) {
          return t.analysis->info.name == row.info.name && t.table == table.name && t.by.empty();
        });
        EXPECT_NE(listed, analysis_tables().end()) << row.info.name << " " << table.name << " of " << name;
        if (listed == analysis_tables().end()) continue;
        std::vector<std::string> columns, wanted;
        for (const RelationColumn& column : listed->columns) columns.push_back(column.name);
        for (const Column& column : table.columns) wanted.push_back(column.name);
        EXPECT_EQ(columns, wanted) << listed->name << " of " << name;
      }
    }
  }
}

TEST(SqlAnalyses, HaveEveryGrouping) {
  const Asked made(kMadeTrace);
  for (const AnalysisRow& row : catalog()) {
    const auto by = std::ranges::find(row.info.parameters, "by", &Parameter::name);
    if (row.run == nullptr || by == row.info.parameters.end()) continue;
    const auto refused = row.run(made.scope(), {{"by", "nothing"}});
    ASSERT_FALSE(refused);
    const std::string words = refused.error().message + refused.error().hint;
    std::size_t groupings = 0;
    for (const AnalysisTable& table : analysis_tables()) {
      if (table.analysis->info.name != row.info.name || table.by.empty()) continue;
      ++groupings;
      EXPECT_NE(words.find(table.by), std::string::npos) << table.name;
    }
    // "--by takes a, b or c, not 'nothing'", "one of: a, b, c": one word more than there are commas and ors before it.
    const std::string list = words.substr(0, words.find(", not '"));
    const auto separators = std::ranges::count(list, ',') + (list.find(" or ") != std::string::npos);
    const bool names_default = list.find("name,") != std::string::npos;  // critical: by name is what it does anyway
    EXPECT_EQ(groupings, static_cast<std::size_t>(separators + 1 - names_default)) << words;
  }
}

TEST(SqlAnalyses, NamesDiffer) {
  std::set<std::string> names;
  for (const TableInfo& table : table_list()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.line.empty()) << table.name;
  }
  for (const char* name :
       {"kernels", "kernels_by_op", "gpu_idle", "ridge_ops", "ridge_check", "ops", "args", "event_args", "slice"})
    EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace ridge::sql
