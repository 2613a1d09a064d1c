// Equal calls are one row for people and stay rows of their own in JSON.
#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "support/diffed.h"
#include "support/made_step.h"

namespace ridge {
namespace {

using test::Diffed;
using test::made_step;
using test::MadeCall;

Report report_of(const std::string& a, const std::string& b) {
  std::vector<test::LoadedTrace> traces;
  traces.push_back(test::load_events(a));
  traces.push_back(test::load_events(b));
  return diff::report_diff(Diffed(std::move(traces)).answer);
}

const Table& table_of(const Report& report, std::string_view name) {
  return *std::find_if(report.tables.begin(), report.tables.end(), [&](const Table& t) { return t.name == name; });
}

Cell cell(const Table& table, const Row& row, std::string_view name) {
  const auto it = std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.name == name; });
  return row[static_cast<std::size_t>(it - table.columns.begin())];
}

// aten::max and aten::relu in turns; each max takes `us`.
std::string turns(int count, int us) {
  std::vector<MadeCall> calls;
  for (int i = 0; i < count; ++i) {
    calls.push_back({.op = "aten::max", .kernel = "max_kernel", .us = us});
    calls.push_back({.op = "aten::relu", .kernel = "relu_kernel", .us = 7});
  }
  return made_step(calls);
}

TEST(DiffFold, EqualCallsAreOneRowForPeople) {
  const Report report = report_of(turns(12, 100), turns(12, 120));
  const Table& table = table_of(report, "diff");
  EXPECT_EQ(table.rows.size(), 24U);
  ASSERT_EQ(table.people.size(), 1U + 12U);  // relu did not change: it is counted in "[12 unchanged]"
  const Row& row = table.people[0];
  EXPECT_EQ(cell(table, row, "group"), Cell("aten::max x12"));
  EXPECT_EQ(cell(table, row, "time_a_ns"), Cell(std::int64_t{1'200'000}));
  EXPECT_EQ(cell(table, row, "delta_ns"), Cell(std::int64_t{240'000}));
  EXPECT_EQ(cell(table, row, "delta_pct"), Cell(20.0));
  EXPECT_EQ(cell(table, row, "count_b"), Cell(12.0));
  EXPECT_EQ(cell(table, row, "match"), Cell("kernel"));
}

TEST(DiffFold, SumsStandInOrderOfTheirChange) {
  // Twelve times 20 us come before one call of 100 us more.
  const auto with_softmax = [](const std::string& events, int us) {
    return events + ", " +
           test::join({test::event({.name = "aten::_softmax", .ts = 4000, .dur = 50}),
                       test::launch(999, 4010, 5, "softmax_kernel", 300'000, us)});
  };
  const Report report = report_of(with_softmax(turns(12, 100), 400), with_softmax(turns(12, 120), 500));
  const Table& table = table_of(report, "diff");
  EXPECT_EQ(table.rows[0][0], Cell("aten::_softmax"));
  EXPECT_EQ(table.people[0][0], Cell("aten::max x12"));
  EXPECT_EQ(table.people[1][0], Cell("aten::_softmax"));
}

TEST(DiffFold, CallsThatDifferStayApart) {
  const auto calls = [](int us) {
    return made_step({{.op = "aten::max", .kernel = "max_kernel", .us = us, .dims = "[[8, 8]]"},
                      {.op = "aten::relu", .kernel = "relu_kernel"},
                      {.op = "aten::max", .kernel = "max_kernel", .us = us, .dims = "[[9, 9]]"}});
  };
  EXPECT_TRUE(table_of(report_of(calls(100), calls(120)), "diff").people.empty());
}

// Whether the bias or the product took longer differs from call to call: a group goes by its matrix work.
TEST(DiffFold, ACallGoesByItsMatrixWork) {
  const auto calls = [](int us) {
    std::string events = test::event({.name = "ProfilerStep#0", .ts = 1000, .dur = 900, .cat = "user_annotation"});
    for (int i = 0; i < 2; ++i) {
      const int ts = 1010 + 400 * i;
      events +=
          ", " +
          test::join({test::event({.name = "aten::linear", .ts = ts, .dur = 80}),
                      test::launch(10 * i + 1, ts + 10, 5, "sm90_xmma_gemm_f32", 10'000 + 2'000 * i, us),
                      test::launch(10 * i + 2, ts + 30, 5, "vectorized_elementwise_kernel", 11'000 + 2'000 * i, 80 + 40 * i),
                      test::event({.name = "aten::relu", .ts = ts + 100, .dur = 80}),
                      test::launch(10 * i + 3, ts + 110, 5, "relu_kernel", 11'500 + 2'000 * i, 7)});
    }
    return events;
  };
  const Report report = report_of(calls(100), calls(150));
  const Table& table = table_of(report, "diff");
  EXPECT_EQ(table.people.at(0)[0], Cell("aten::linear x2"));
  EXPECT_EQ(cell(table, table.people[0], "category"), Cell("gemm"));
}

TEST(DiffFold, CallsOfOneTraceAreFoldedToo) {
  const Report report = report_of(turns(3, 100), made_step({{.op = "aten::relu", .kernel = "relu_kernel", .us = 7}}));
  const Table& table = table_of(report, "only_in_a");
  ASSERT_FALSE(table.people.empty());
  EXPECT_EQ(table.people[0][0], Cell("aten::max x3"));
  EXPECT_EQ(cell(table, table.people[0], "time_ns"), Cell(std::int64_t{300'000}));
}

}  // namespace
}  // namespace ridge
