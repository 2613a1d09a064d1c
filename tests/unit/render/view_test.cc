#include <limits>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "sample_report.h"
#include "support/says.h"

namespace ridge {
namespace {

std::string names_of(const Table& table) {
  std::string names;
  for (const Row& row : table.rows) names += std::get<std::string>(row.front()) + " ";
  return names;
}

std::string sorted_names(const std::string& sort) {
  const auto report = apply_view(sample_report(), {.sort = sort, .limit = 0});
  return report ? names_of(report->tables.front()) : report.error().message;
}

TEST(View, NumbersSortDownTextSortsUp) {
  EXPECT_EQ(sorted_names("time_ns"), "gemm copy add ");
  EXPECT_EQ(sorted_names("-time_ns"), "add copy gemm ");
  EXPECT_EQ(sorted_names("kernel"), "add copy gemm ");
  EXPECT_EQ(sorted_names("-kernel"), "gemm copy add ");
}

TEST(View, UnknownValuesAreLastEitherWay) {
  EXPECT_EQ(sorted_names("mean_ns"), "copy gemm add ");
  EXPECT_EQ(sorted_names("-mean_ns"), "gemm copy add ");
}

TEST(View, ShortNameOfATime) { EXPECT_EQ(sorted_names("-time"), "add copy gemm "); }

TEST(View, LargeIntegersAreComparedExactly) {
  Report report = sample_report();
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max();
  report.tables[0].rows[0][2] = integer(kLarge - 1);
  report.tables[0].rows[1][2] = integer(kLarge);
  EXPECT_EQ(names_of(apply_view(report, {.sort = "time_ns", .limit = 0})->tables[0]), "copy gemm add ");
}

TEST(View, TiesKeepTheirOrder) {
  Report report = sample_report();
  for (Row& row : report.tables[0].rows) row[1] = integer(7);
  EXPECT_EQ(names_of(apply_view(report, {.sort = "count", .limit = 0})->tables[0]), "gemm copy add ");
}

TEST(View, SortsTheFirstTableThatHasTheColumn) {
  Report report = sample_report();
  Table devices;
  devices.name = "devices";
  devices.columns = {{"name", Type::text}, {"sms", Type::integer}};
  devices.rows = {{text("small"), integer(1)}, {text("large"), integer(2)}};
  report.tables.push_back(devices);
  const auto sorted = apply_view(report, {.sort = "sms", .limit = 0});
  ASSERT_TRUE(sorted);
  EXPECT_EQ(names_of(sorted->tables[0]), "gemm copy add ");
  EXPECT_EQ(names_of(sorted->tables[1]), "large small ");
}

TEST(View, UnknownColumnIsAnErrorWithTheNearest) {
  const auto report = apply_view(sample_report(), {.sort = "cuont", .limit = 0});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::usage);
  EXPECT_TRUE(test::says(report.error().message, {"'cuont'"}));
  EXPECT_TRUE(test::says(report.error().hint, {" count?"}));
  EXPECT_TRUE(test::says(apply_view(sample_report(), {.sort = "tme", .limit = 0}).error().hint, {" time?"}));
  EXPECT_TRUE(test::says(apply_view(sample_report(), {.sort = "qqqqq", .limit = 0}).error().hint,
                         {"kernel, count, time_ns, mean_ns, fused"}));
}

TEST(View, CutRowsAreCountedAndSummedWhereSumsMeanSomething) {
  const auto report = apply_view(sample_report(), {.sort = "", .limit = 1});
  ASSERT_TRUE(report);
  const Table& table = report->tables.front();
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.others, 2);
  // mean: 300 + 100'000 is not the total 499, so the rest has no mean either.
  EXPECT_EQ(table.others_row, (Row{Cell(), integer(4), integer(400'000), Cell(), Cell()}));
  EXPECT_EQ(table.total, sample_table().total);
}

TEST(View, NothingIsCutAtTheLimitOrWithoutOne) {
  for (std::int64_t limit : {0, 3, 4}) {
    const auto report = apply_view(sample_report(), {.sort = "", .limit = limit});
    EXPECT_EQ(report->tables[0].rows.size(), 3u) << limit;
    EXPECT_EQ(report->tables[0].others, 0) << limit;
  }
}

TEST(View, RowsShorterThanTheColumnsAreFilled) {
  Report report = sample_report();
  report.tables[0].rows.push_back({text("short")});
  EXPECT_EQ(names_of(apply_view(report, {.sort = "time_ns", .limit = 0})->tables[0]), "gemm copy add short ");
}

// Rows of which no flag is true become one row of sums for people; with a limit, the others are cut as ever. JSON asks for no
// folding.
TEST(View, FoldsUnchangedRowsForPeople) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.name = "diff";
  table.columns = {{"group", Type::text}, {"delta_ns", Type::integer, Unit::ns}, {"significant", Type::boolean}};
  table.rows = {{"a", std::int64_t{50}, true},
                {"b", std::int64_t{-7}, false},
                {"c", std::int64_t{4}, true},
                {"d", std::int64_t{2}, false}};
  table.total = Row{Cell(), std::int64_t{49}, Cell()};
  table.fold_unless = {"significant"};
  const Table folded = apply_view(report, {.sort = "", .limit = 1, .fold = true})->tables[0];
  ASSERT_EQ(folded.rows.size(), 1U);
  EXPECT_EQ(folded.others, 1);
  EXPECT_EQ(folded.folded, 2);
  EXPECT_EQ(folded.others_row[1], Cell(std::int64_t{4}));
  EXPECT_EQ(folded.folded_row[1], Cell(std::int64_t{-5}));
  EXPECT_EQ(apply_view(report, {})->tables[0].rows.size(), 4U);
}

// Rows that an analysis took together are for people; whoever asks for no folding has every row.
TEST(View, ShowsPeopleTheRowsMadeForThem) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.columns = {{"group", Type::text}, {"delta_ns", Type::integer, Unit::ns}};
  table.rows = {{"a #1", std::int64_t{2}}, {"a #2", std::int64_t{3}}, {"b", std::int64_t{4}}};
  table.people = {{"a x2", std::int64_t{5}}, {"b", std::int64_t{4}}};
  EXPECT_EQ(apply_view(report, {.sort = "", .limit = 20, .fold = true})->tables[0].rows, table.people);
  EXPECT_EQ(apply_view(report, {})->tables[0].rows, table.rows);
}

}  // namespace
}  // namespace ridge
