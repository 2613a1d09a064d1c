// Tables in Markdown; names cannot break out of them.
#include <gtest/gtest.h>

#include <ridge/render.h>

#include "sample_report.h"

namespace ridge {
namespace {

std::string markdown(const Report& report, const View& view = {}) { return *report_text(report, **find_format("md"), view); }

std::string markdown_of(std::string name) {
  Report report;
  report.tables.resize(1);
  report.tables[0].add_column({"name"}, {text(std::move(name))});
  const std::string all = markdown(report);
  return all.substr(all.find("---") + 6);  // the line after the rule
}

TEST(Markdown, IsATableWithTotalAndOthers) {
  EXPECT_EQ(markdown(sample_report(), {.sort = "", .limit = 1}),
            "### kernels\n\n"
            "| kernel | count | time | mean | fused |\n"
            "| --- | ---: | ---: | ---: | --- |\n"
            "| gemm | 2,000 | 600.000 us | 300 ns | yes |\n"
            "| [2 others] | 4 | 400.000 us |  |  |\n"
            "| **TOTAL** | **2,004** | **1.000 ms** | **499 ns** |  |\n");
}

TEST(Markdown, NamesCannotBreakTheTable) {
  EXPECT_EQ(markdown_of("a|b"), "| a\\|b |\n");
  EXPECT_EQ(markdown_of("a\nb"), "| `a\\nb` |\n");
  EXPECT_EQ(markdown_of("void f<int>(float*)"), "| `void f<int>(float*)` |\n");
  EXPECT_EQ(markdown_of("a`b``c"), "| ```a`b``c``` |\n");
  EXPECT_EQ(markdown_of("[x](y)"), "| `[x](y)` |\n");
  EXPECT_EQ(markdown_of("1.2 TB/s"), "| 1.2 TB/s |\n");
}

TEST(Markdown, KeyValueTableIsTwoColumns) {
  Report report = sample_report();
  report.tables[0].truncate(1);
  report.tables[0].hints.key_value = true;
  EXPECT_EQ(markdown(report),
            "### kernels\n\n|  |  |\n| --- | --- |\n| kernel | gemm |\n| count | 2,000 |\n| time | 600.000 us |\n"
            "| mean | 300 ns |\n| fused | yes |\n");
}

// The first table answers, even with nothing; others without rows only take room.
TEST(Markdown, EmptyTablesBehindTheFirstAreLeftOut) {
  Report report = sample_report();
  Table empty = sample_table();
  empty.name = "renamed";
  empty.truncate(0);
  empty.total = std::nullopt;
  report.tables.push_back(empty);
  EXPECT_EQ(markdown(report), markdown(sample_report()));
  report.tables = {empty, sample_table()};
  EXPECT_TRUE(markdown(report).starts_with("### renamed\n"));
  // Rows that are all folded are not none.
  Table folded = sample_table();
  edit_rows(folded, [](Row& row) { row[4] = Cell(false); });
  folded.hints.fold_unless = {"fused"};
  report.tables = {sample_table(), folded};
  EXPECT_NE(markdown(report, {.sort = "", .limit = 20, .fold = true}).find("[3 unchanged]"), std::string::npos);
}

}  // namespace
}  // namespace ridge
