// Equal calls are one row for people and stay rows of their own in JSON.
#include <gtest/gtest.h>

#include "analysis/catalog.h"
#include "render/report_view.h"
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

// What people see of a table, by row and column.
class Seen {
 public:
  Seen(const Report& report, std::string_view name) {
    const auto view = render::view_report(report, {.sort = "", .limit = 0, .fold = true}, true);
    view_ = *std::ranges::find(view->tables, name, [](const render::TableView& t) { return std::string_view(t.table->name); });
  }
  std::size_t size() const { return view_.rows.size() + static_cast<std::size_t>(view_.folded); }
  Cell cell(std::size_t row, std::string_view column) const {
    return owned(
        view_.cell_of(view_.rows.at(row), static_cast<std::size_t>(view_.table->find(column) - view_.table->columns.data())));
  }

 private:
  render::TableView view_;
};

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
  EXPECT_EQ(table_of(report, "diff").size(), 24U);
  const Seen seen(report, "diff");
  ASSERT_EQ(seen.size(), 1U + 12U);  // relu did not change: it is counted in "[12 unchanged]"
  EXPECT_EQ(seen.cell(0, "group"), Cell("aten::max x12"));
  EXPECT_EQ(seen.cell(0, "time_a_ns"), Cell(std::int64_t{1'200'000}));
  EXPECT_EQ(seen.cell(0, "delta_ns"), Cell(std::int64_t{240'000}));
  EXPECT_EQ(seen.cell(0, "delta_pct"), Cell(20.0));
  EXPECT_EQ(seen.cell(0, "count_b"), Cell(12.0));
  EXPECT_EQ(seen.cell(0, "match"), Cell("kernel"));
}

TEST(DiffFold, SumsStandInOrderOfTheirChange) {
  // Twelve times 20 us come before one call of 100 us more.
  const auto with_softmax = [](const std::string& events, int us) {
    return events + ", " +
           test::join({test::event({.name = "aten::_softmax", .ts = 4000, .dur = 50}),
                       test::launch(999, 4010, 5, "softmax_kernel", 300'000, us)});
  };
  const Report report = report_of(with_softmax(turns(12, 100), 400), with_softmax(turns(12, 120), 500));
  EXPECT_EQ(table_of(report, "diff").row(0)[0], Cell("aten::_softmax"));
  const Seen seen(report, "diff");
  EXPECT_EQ(seen.cell(0, "group"), Cell("aten::max x12"));
  EXPECT_EQ(seen.cell(1, "group"), Cell("aten::_softmax"));
}

TEST(DiffFold, CallsThatDifferStayApart) {
  const auto calls = [](int us) {
    return made_step({{.op = "aten::max", .kernel = "max_kernel", .us = us, .dims = "[[8, 8]]"},
                      {.op = "aten::relu", .kernel = "relu_kernel"},
                      {.op = "aten::max", .kernel = "max_kernel", .us = us, .dims = "[[9, 9]]"}});
  };
  const Report report = report_of(calls(100), calls(120));
  EXPECT_EQ(Seen(report, "diff").size(), table_of(report, "diff").size());
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
  const Seen seen(report, "diff");
  EXPECT_EQ(seen.cell(0, "group"), Cell("aten::linear x2"));
  EXPECT_EQ(seen.cell(0, "category"), Cell("gemm"));
}

TEST(DiffFold, CallsOfOneTraceAreFoldedToo) {
  const Report report = report_of(turns(3, 100), made_step({{.op = "aten::relu", .kernel = "relu_kernel", .us = 7}}));
  const Seen seen(report, "only_in_a");
  EXPECT_EQ(seen.cell(0, "group"), Cell("aten::max x3"));
  EXPECT_EQ(seen.cell(0, "time_ns"), Cell(std::int64_t{300'000}));
}

}  // namespace
}  // namespace ridge
