// Sorting, cutting and folding of a table for people.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "render/report_view.h"
#include "sample_report.h"
#include "support/says.h"

namespace ridge::render {
namespace {

std::string names_of(const TableView& view) {
  std::string names;
  for (std::size_t row = 0; row < view.rows.size(); ++row)
    names += std::string(std::get<std::string_view>(view.cell(row, 0))) + " ";
  return names;
}

// As people see it.
Result<ReportView> viewed(const Report& report, const View& view) { return view_report(report, view, true); }

std::string sorted_names(const Report& report, const std::string& sort) {
  const auto view = viewed(report, {.sort = sort, .limit = 0});
  return view ? names_of(view->tables.front()) : view.error().message;
}
std::string sorted_names(const std::string& sort) { return sorted_names(sample_report(), sort); }

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
  edit_rows(report.tables[0], [](Row& row) {
    if (row[0] == text("gemm")) row[2] = integer(kLarge - 1);
    if (row[0] == text("copy")) row[2] = integer(kLarge);
  });
  EXPECT_EQ(sorted_names(report, "time_ns"), "copy gemm add ");
}

TEST(View, TiesKeepTheirOrder) {
  Report report = sample_report();
  edit_rows(report.tables[0], [](Row& row) { row[1] = integer(7); });
  EXPECT_EQ(sorted_names(report, "count"), "gemm copy add ");
}

TEST(View, SortsTheFirstTableThatHasTheColumn) {
  Report report = sample_report();
  Table devices;
  devices.name = "devices";
  devices.columns = {{"name", Type::text}, {"sms", Type::integer}};
  set_rows(devices, {{text("small"), integer(1)}, {text("large"), integer(2)}});
  report.tables.push_back(devices);
  const auto sorted = viewed(report, {.sort = "sms", .limit = 0});
  ASSERT_TRUE(sorted);
  EXPECT_EQ(names_of(sorted->tables[0]), "gemm copy add ");
  EXPECT_EQ(names_of(sorted->tables[1]), "large small ");
}

TEST(View, UnknownColumnIsAnErrorWithTheNearest) {
  const Report sample = sample_report();
  const auto hint = [&](const std::string& sort) { return viewed(sample, {.sort = sort, .limit = 0}).error().hint; };
  const auto view = viewed(sample, {.sort = "cuont", .limit = 0});
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, ErrorCode::usage);
  EXPECT_TRUE(test::says(view.error().message, {"'cuont'"}));
  EXPECT_TRUE(test::says(view.error().hint, {" count?"}));
  EXPECT_TRUE(test::says(hint("tme"), {" time?"}));
  EXPECT_TRUE(test::says(hint("qqqqq"), {"kernel, count, time_ns, mean_ns, fused"}));
}

TEST(View, CutRowsAreCountedAndSummedWhereSumsMeanSomething) {
  const Report report = sample_report();
  const auto view = viewed(report, {.sort = "", .limit = 1});
  ASSERT_TRUE(view);
  const TableView& table = view->tables.front();
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.others, 2);
  // mean: 300 + 100'000 is not the total 499, so the rest has no mean either.
  EXPECT_EQ(table.others_row, (Row{Cell(), integer(4), integer(400'000), Cell(), Cell()}));
  EXPECT_TRUE(view_report(report, {.sort = "", .limit = 1}, false)->tables[0].others_row.empty());  // programs do without
}

TEST(View, NothingIsCutAtTheLimitOrWithoutOne) {
  const Report report = sample_report();
  for (std::int64_t limit : {0, 3, 4}) {
    const auto view = viewed(report, {.sort = "", .limit = limit});
    EXPECT_EQ(view->tables[0].rows.size(), 3u) << limit;
    EXPECT_EQ(view->tables[0].others, 0) << limit;
  }
}

TEST(View, RowsShorterThanTheColumnsAreFilled) {
  Report report = sample_report();
  report.tables[0].add_row({text("short")});
  EXPECT_EQ(sorted_names(report, "time_ns"), "gemm copy add short ");
}

// A page of a sorted table is the beginning of the whole one, also among equal and unknown values, and without sorting the
// rest.
TEST(View, APageIsTheBeginningOfTheWhole) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.columns = {{"name", Type::text}, {"value", Type::integer}, {"share", Type::number}};
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::int64_t value = i * 7919 % 31;
    table.add_row(
        {text("n" + std::to_string(i * 31 % 200)), value == 5 ? Cell() : integer(value), 0.5 * static_cast<double>(value)});
  }
  for (const char* sort : {"name", "-name", "value", "-value", "share", "-share"}) {
    const std::vector<std::uint32_t> whole = view_report(report, {.sort = sort, .limit = 0}, false)->tables[0].rows;
    for (const std::int64_t limit : {1, 10, 199, 200, 1000}) {
      const std::vector<std::uint32_t> page = view_report(report, {.sort = sort, .limit = limit}, false)->tables[0].rows;
      EXPECT_EQ(page.size(), std::min<std::size_t>(200, static_cast<std::size_t>(limit)));
      EXPECT_TRUE(std::equal(page.begin(), page.end(), whole.begin())) << sort << " " << limit;
    }
  }
}

// Rows of which no flag is true become one row of sums for people; with a limit, the others are cut as ever. JSON asks for no
// folding.
TEST(View, FoldsUnchangedRowsForPeople) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.name = "diff";
  table.columns = {{"group", Type::text}, {"delta_ns", Type::integer, Unit::ns}, {"significant", Type::boolean}};
  set_rows(table, {{"a", std::int64_t{50}, true},
                   {"b", std::int64_t{-7}, false},
                   {"c", std::int64_t{4}, true},
                   {"d", std::int64_t{2}, false}});
  table.total = Row{Cell(), std::int64_t{49}, Cell()};
  table.hints.fold_unless = {"significant"};
  const TableView folded = viewed(report, {.sort = "", .limit = 1, .fold = true})->tables[0];
  ASSERT_EQ(folded.rows.size(), 1U);
  EXPECT_EQ(folded.others, 1);
  EXPECT_EQ(folded.folded, 2);
  EXPECT_EQ(folded.others_row[1], Cell(std::int64_t{4}));
  EXPECT_EQ(folded.folded_row[1], Cell(std::int64_t{-5}));
  EXPECT_EQ(viewed(report, {})->tables[0].rows.size(), 4U);
}

// Equal rows are one for people; whoever asks for no folding has every row.
TEST(View, JoinsEqualRowsForPeople) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.columns = {{"group", Type::text}, {"kind", Type::text}, {"delta_ns", Type::integer, Unit::ns}};
  set_rows(table, {{"b", "x", std::int64_t{4}},
                   {"a #1", "x", std::int64_t{2}},
                   {"a #2", "x", std::int64_t{3}},
                   {"a #3", "y", std::int64_t{1}}});
  for (const char* title : {"b", "a", "a", "a"}) table.hints.joined.titles.push(title);
  table.hints.joined.ordered_by = {"delta_ns"};
  const TableView joined = viewed(report, {.sort = "", .limit = 20, .fold = true})->tables[0];
  EXPECT_EQ(names_of(joined), "a x2 b a #3 ");
  EXPECT_EQ(joined.cell(0, 2), CellView(std::int64_t{5}));
  EXPECT_EQ(names_of(viewed(report, {})->tables[0]), "b a #1 a #2 a #3 ");
}

// One that grew and one that shrank are no change of 0.
TEST(View, DoesNotJoinWhatGrewWithWhatShrank) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.columns = {{"group", Type::text}, {"delta_ns", Type::integer, Unit::ns}};
  set_rows(table, {{"a #1", std::int64_t{5}}, {"a #2", std::int64_t{-5}}, {"a #3", std::int64_t{2}}});
  for (int i = 0; i < 3; ++i) table.hints.joined.titles.push("a");
  table.hints.joined.ordered_by = {"delta_ns"};
  const TableView joined = viewed(report, {.sort = "", .limit = 20, .fold = true})->tables[0];
  EXPECT_EQ(names_of(joined), "a x2 a #2 ");
  EXPECT_EQ(joined.cell(0, 1), CellView(std::int64_t{7}));
}

}  // namespace
}  // namespace ridge::render
