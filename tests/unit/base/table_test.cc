// Typed columns: what goes in comes out, unknown stays unknown, each text is kept once.
#include <ridge/table.h>

#include <limits>

#include <gtest/gtest.h>

namespace ridge {
namespace {

Table four_columns() {
  Table table;
  table.columns = {{"name", Type::text}, {"count", Type::integer}, {"share", Type::number}, {"fused", Type::boolean}};
  table.add_row({"gemm", std::int64_t{7}, 0.5, true});
  table.add_row({Cell(), Cell(), Cell(), Cell()});
  table.add_row({"", std::int64_t{0}, 0.0, false});
  table.add_row({"gemm"});
  return table;
}

TEST(Table, GivesBackWhatItWasGiven) {
  const Table table = four_columns();
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table.row(0), (Row{"gemm", std::int64_t{7}, 0.5, true}));
  EXPECT_EQ(table.row(2), (Row{"", std::int64_t{0}, 0.0, false}));
  EXPECT_EQ(table.column("count").int64(0), 7);
  EXPECT_EQ(table.column("share").number(0), 0.5);
  EXPECT_EQ(table.column("fused").boolean(0), true);
  EXPECT_EQ(table.column("name").text(0), "gemm");
  EXPECT_EQ(table.find("nothing"), nullptr);
}

TEST(Table, UnknownIsNeitherZeroNorEmpty) {
  const Table table = four_columns();
  EXPECT_EQ(table.row(1), Row(4));
  EXPECT_EQ(table.row(3), (Row{"gemm", Cell(), Cell(), Cell()}));  // what a row lacks is unknown
  for (const Column& column : table.columns) {
    EXPECT_TRUE(is_null(column.at(1))) << column.name;
    EXPECT_FALSE(is_null(column.at(2))) << column.name;
  }
  EXPECT_EQ(table.column("count").int64(1), std::nullopt);
  EXPECT_EQ(table.column("name").text(1), std::nullopt);
}

TEST(Table, ColumnsAnswerInTheirOwnType) {
  const Table table = four_columns();
  EXPECT_EQ(table.column("count").number(0), 7.0);
  EXPECT_EQ(table.column("share").int64(0), std::nullopt);
  EXPECT_EQ(table.column("count").text(0), std::nullopt);
  EXPECT_EQ(table.column("name").number(0), std::nullopt);
}

TEST(Table, IntegersAreExactAndMayStandForNumbers) {
  Table table;
  table.columns = {{"whole", Type::integer}, {"number", Type::number}};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  table.add_row({kMost, std::int64_t{3}});
  EXPECT_EQ(table.cell(0, 0), CellView(kMost));
  EXPECT_EQ(table.cell(0, 1), CellView(3.0));
}

TEST(Table, CopiesAndCutsStandOnTheirOwn) {
  Table table = four_columns();
  const Table copy = table;
  table.truncate(1);
  table.truncate(5);
  EXPECT_EQ(table.size(), 1U);
  table.add_row({"other"});
  EXPECT_EQ(table.column("name").text(1), "other");
  EXPECT_EQ(copy.size(), 4U);
  EXPECT_EQ(copy.column("name").text(3), "gemm");
}

TEST(Table, AColumnMayBeAddedWhole) {
  Table table;
  table.add_column({"device", Type::text}, {"H200"});
  table.add_column({"count", Type::integer}, {Cell()});
  EXPECT_EQ(table.row(0), (Row{"H200", Cell()}));
}

TEST(Dictionary, KeepsEachTextOnce) {
  Dictionary texts;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < 10'000; ++i) EXPECT_EQ(texts.add("text " + std::to_string(i)), i);
  }
  EXPECT_EQ(texts.size(), 10'000U);
  EXPECT_EQ(texts.text(0), "text 0");
  EXPECT_EQ(texts.text(9'999), "text 9999");
  EXPECT_EQ(texts.add(""), 10'000U);
  EXPECT_EQ(texts.text(10'000), "");
  const Dictionary copy = texts;
  texts.add("more");
  EXPECT_EQ(copy.text(9'999), "text 9999");
}

}  // namespace
}  // namespace ridge
