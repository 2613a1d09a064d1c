// A report is written as it is made: in pieces of bounded size, which joined are the whole.
#include <gtest/gtest.h>

#include <ridge/render.h>

#include "render/sink.h"
#include "sample_report.h"
#include "support/says.h"

namespace ridge {
namespace {

Report large_report() {
  Report report = sample_report();
  Table& table = report.tables[0];
  for (std::int64_t i = 0; i < 20'000; ++i) table.add_row({text("kernel " + std::to_string(i)), integer(i)});
  report.series = {{"allocated", Unit::bytes, {}}};
  for (std::int64_t i = 0; i < 20'000; ++i) report.series[0].points.emplace_back(i, 1.5);
  return report;
}

TEST(Stream, PiecesAreSmallAndAddUpToTheWhole) {
  const Report report = large_report();
  for (const char* name : {"json", "csv"}) {
    const Format& format = **find_format(name);
    std::string joined;
    std::size_t largest = 0;
    const auto written = write_report(report, format, {}, {}, [&](std::string_view piece) -> Result<void> {
      largest = std::max(largest, piece.size());
      joined += piece;
      return {};
    });
    EXPECT_TRUE(written);
    EXPECT_EQ(joined, *report_text(report, format)) << name;
    EXPECT_GT(joined.size(), 4 * render::kSinkBytes) << name;
    EXPECT_LT(largest, render::kSinkBytes + 1'000) << name;
  }
}

TEST(Stream, AFailedWriteIsToldAndGetsNoMore) {
  int calls = 0;
  const auto written = write_report(large_report(), **find_format("json"), {}, {}, [&](std::string_view) -> Result<void> {
    ++calls;
    return fail(ErrorCode::cannot_write, "the disk is full");
  });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "the disk is full");
  EXPECT_EQ(calls, 1);
}

TEST(Stream, NothingIsWrittenWhereTheViewIsWrong) {
  bool called = false;
  const auto written = write_report(sample_report(), **find_format("json"), {.sort = "nonsense", .limit = 0}, {},
                                    [&](std::string_view) -> Result<void> {
                                      called = true;
                                      return {};
                                    });
  EXPECT_FALSE(written);
  EXPECT_FALSE(called);
}

TEST(Stream, TextsKeepToTheLimit) {
  Report report = sample_report();
  report.tables[0].add_row({text(std::string(10'000, 'k'))});
  EXPECT_GT(report_text(report, **find_format("json"))->size(), 10'000U);
  EXPECT_LT(report_text(report, **find_format("json"), {}, {.longest_text = 256})->size(), 2'000U);
}

TEST(Stream, AReportWithoutAPlotCannotBeDrawn) {
  const auto drawn = report_text(sample_report(), **find_format("svg"));
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, ErrorCode::usage);
  EXPECT_TRUE(test::says(drawn.error().message, {"kernels"}));
}

}  // namespace
}  // namespace ridge
