// Alignment, widths, cut tables and hostile names on a terminal.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "render/utf8.h"
#include "sample_report.h"

namespace ridge {
namespace {

std::string terminal(const Report& report, const RenderOptions& options = {}, const View& view = {}) {
  return *report_text(report, **find_format("table"), view, options);
}

std::string second_line(const std::string& all) {
  return all.substr(all.find('\n') + 1, all.find('\n', all.find('\n') + 1) - all.find('\n') - 1);
}

std::size_t widest_line(const std::string& all) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\n', begin);
    widest = std::max(widest, render::display_width(std::string_view(all).substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

Report long_names() {
  Report report = sample_report();
  edit_rows(report.tables[0], [](Row& row) { row[0] = text(std::get<std::string>(row[0]) + std::string(200, 'x')); });
  return report;
}

TEST(Terminal, AlignsNumbersToTheRight) {
  EXPECT_EQ(terminal(sample_report()),
            "kernels\n"
            "  kernel  count        time        mean  fused\n"
            "  gemm    2,000  600.000 us      300 ns  yes\n"
            "  copy        3  300.000 us  100.000 us  no\n"
            "  add         1  100.000 us           -  -\n"
            "  TOTAL   2,004    1.000 ms      499 ns\n");
}

TEST(Terminal, CutTableTellsOfTheOthers) {
  EXPECT_EQ(terminal(sample_report(), {}, {.sort = "", .limit = 1}),
            "kernels\n"
            "  kernel      count        time    mean  fused\n"
            "  gemm        2,000  600.000 us  300 ns  yes\n"
            "  [2 others]      4  400.000 us\n"
            "  TOTAL       2,004    1.000 ms  499 ns\n");
}

TEST(Terminal, KeyValueTableIsLinesAndNamesWhatIsNotKnown) {
  Report report = sample_report();
  set_rows(report.tables[0], {{text("gemm"), integer(2000), integer(600'000), Cell(), Cell(true)}});
  report.tables[0].hints.key_value = true;
  EXPECT_EQ(terminal(report),
            "kernels\n  kernel  gemm\n  count   2,000\n  time    600.000 us\n  fused   yes\n  (not known: mean_ns)\n");
}

TEST(Terminal, SentencesStandWholeUnderTheirRow) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.name = "findings";
  table.columns = {{"rank", Type::integer},
                   {"id", Type::text},
                   {"finding", Type::text},
                   {"at_most_ns", Type::integer, Unit::ns},
                   {"do", Type::text}};
  table.columns[2].sentence = table.columns[4].sentence = true;
  set_rows(table, {{integer(1), text("sync"), text("the host waits for the device"), integer(7), text("read the value later")},
                   {integer(2), text("copy"), Cell(), integer(5), text("pin the memory")}});
  table.total = Row{Cell(), Cell(), Cell(), integer(12), Cell()};
  EXPECT_EQ(terminal(report),
            "findings\n"
            "  rank  id     at_most\n"
            "     1  sync      7 ns\n"
            "        the host waits for the device\n"
            "        do: read the value later\n"
            "     2  copy      5 ns\n"
            "        do: pin the memory\n"
            "        TOTAL    12 ns\n");
  EXPECT_EQ(terminal(report, {.color = false, .width = 26}),
            "findings\n"
            "  rank  id     at_most\n"
            "     1  sync      7 ns\n"
            "        the host waits for\n"
            "        the device\n"
            "        do: read the value\n"
            "        later\n"
            "     2  copy      5 ns\n"
            "        do: pin the memory\n"
            "        TOTAL    12 ns\n");
}

TEST(Terminal, EmptyTableSaysSo) {
  Report report = sample_report();
  report.tables[0].truncate(0);
  report.tables[0].total.reset();
  EXPECT_EQ(terminal(report), "kernels\n  (none)\n");
}

TEST(Terminal, LongNamesStandLastAndAreWholeWithoutAWidth) {
  const std::string all = terminal(long_names());
  EXPECT_EQ(second_line(all), "  count        time        mean  fused  kernel");
  EXPECT_NE(all.find("gemm" + std::string(200, 'x') + "\n"), std::string::npos);
  EXPECT_EQ(all.find("…"), std::string::npos);
}

TEST(Terminal, ImportantColumnsStayWhereNotAllFit) {
  Report report = sample_report();
  report.tables[0].hints.important = {"time_ns", "kernel"};
  EXPECT_EQ(second_line(terminal(report, {.color = false, .width = 24})), "  kernel        time");
  report.tables[0].hints.important = {"kernel", "fused", "count"};
  EXPECT_EQ(second_line(terminal(report, {.color = false, .width = 24})), "  kernel  count  fused");
  EXPECT_EQ(second_line(terminal(report, {.color = false, .width = 80})), "  kernel  count        time        mean  fused");
}

TEST(Terminal, AnImportantNameIsNotTheOneThatGoes) {
  Report report = long_names();
  report.tables[0].add_column({"hash", Type::text}, Row(3, text(std::string(64, 'h'))));
  report.tables[0].total->emplace_back();
  report.tables[0].hints.important = {"kernel", "time_ns"};
  const std::string all = terminal(report, {.color = false, .width = 60});
  EXPECT_NE(second_line(all).find("kernel"), std::string::npos);
  EXPECT_NE(second_line(all).find("time"), std::string::npos);
  EXPECT_EQ(second_line(all).find("hash"), std::string::npos);
  EXPECT_LE(widest_line(all), 60u);
}

std::string last_line(const std::string& all) { return all.substr(all.rfind('\n', all.size() - 2) + 1); }

// Without room for the column that holds "TOTAL" and "[N others]", these move to one that is shown; with room they stay.
TEST(Terminal, SumsKeepTheirLabelsInColumnsThatAreShown) {
  Report report = long_names();
  Table& table = report.tables[0];
  table.add_column({"category", Type::text}, Row(3, text("elementwise")));
  std::ranges::rotate(table.columns, table.columns.end() - 1);
  table.total->insert(table.total->begin(), Cell());
  table.hints.important = {"kernel", "time_ns", "count"};
  const View cut{.sort = "", .limit = 1};
  for (const int width : {42, 50, 60, 80, 200}) {
    const std::string all = terminal(report, {.color = false, .width = width}, cut);
    EXPECT_NE(all.find("TOTAL"), std::string::npos) << width << "\n" << all;
    EXPECT_NE(all.find("[2 others]"), std::string::npos) << width << "\n" << all;
    EXPECT_LE(widest_line(all), static_cast<std::size_t>(width));
  }
  EXPECT_TRUE(last_line(terminal(report, {.color = false, .width = 200}, cut)).starts_with("  TOTAL "));
}

TEST(Terminal, LongNamesAreCutToTheWidth) {
  const std::string all = terminal(long_names(), {.color = false, .width = 80});
  EXPECT_EQ(widest_line(all), 80u);
  EXPECT_NE(all.find("…"), std::string::npos);
  EXPECT_EQ(all.find("--json"), std::string::npos);
}

TEST(Terminal, NamesAreCutWhereTheyStayApart) {
  Report report = long_names();
  const std::string same(60, 's');
  std::vector<std::string> names = {same + "_64x128_" + same + "tn", same + "_128x64_" + same + "tn",
                                    same + "_64x128_" + same + "nt"};
  std::size_t next = 0;
  edit_rows(report.tables[0], [&](Row& row) { row[0] = text(names[next++]); });
  const std::string all = terminal(report, {.color = false, .width = 80});
  std::set<std::string> shown;
  for (std::size_t at = 0; (at = all.find("…", at)) != std::string::npos; at += 1) {
    const std::size_t begin = all.rfind(' ', at) + 1;
    shown.insert(all.substr(begin, all.find('\n', at) - begin));
  }
  EXPECT_GE(shown.size(), 2U) << all;  // tn and nt at least
  for (const std::string& name : shown) EXPECT_TRUE(name.ends_with("tn") || name.ends_with("nt")) << name;
}

// In a file: every name whole, and beside the first only what can be read side by side.
TEST(Terminal, WithoutAWidthTheColumnsThatMatter) {
  Report report = long_names();
  Table& table = report.tables[0];
  for (const char* name : {"one", "two", "three", "four", "five", "six", "seven", "eight"}) {
    table.add_column({name, Type::text}, Row(3, text(std::string(20, 'v'))));
    table.total->emplace_back();
  }
  table.add_column({"hash", Type::text}, Row(3, text(std::string(64, 'h'))));
  table.total->emplace_back();
  table.hints.important = {"kernel", "time_ns", "five"};
  const std::string all = terminal(report, {.color = false, .width = 0, .wide = false});
  const std::string heading = second_line(all);
  for (const char* name : {" time ", " five ", " kernel"}) EXPECT_NE((heading + " ").find(name), std::string::npos) << heading;
  EXPECT_TRUE(heading.ends_with("kernel")) << heading;
  EXPECT_LE(heading.size(), 110U) << heading;
  EXPECT_EQ(heading.find("hash"), std::string::npos);
  EXPECT_NE(all.find("gemm" + std::string(200, 'x') + "\n"), std::string::npos) << "the whole name";
  EXPECT_NE(all.find("  (--wide shows "), std::string::npos) << all;
  EXPECT_EQ(terminal(report, {.color = false, .width = 0, .wide = true}), terminal(report));
  // What is readable anyway is whole.
  EXPECT_EQ(terminal(sample_report(), {.color = false, .width = 0, .wide = false}), terminal(sample_report()));
}

TEST(Terminal, ColumnsWithoutRoomAreNamed) {
  Report report = long_names();
  edit_rows(report.tables[0], [](Row& row) { row[2] = Cell(); });  // nothing known: the first to go
  const std::string all = terminal(report, {.color = false, .width = 60});
  EXPECT_EQ(widest_line(all), 60u);
  EXPECT_NE(all.find("(--wide shows 1 more column: time)"), std::string::npos) << all;
}

TEST(Terminal, NarrowTerminalNeverFails) {
  for (int width = 1; width < 120; ++width) EXPECT_FALSE(terminal(long_names(), {.color = true, .width = width}).empty());
}

TEST(Terminal, HostileNamesAreEscaped) {
  Report report = sample_report();
  edit_rows(report.tables[0], [](Row& row) { row[0] = text("\x1b]0;title\x07\xc2\x9b\u202E\n\xff"); });
  const std::string all = terminal(report);
  EXPECT_EQ(all.find('\x1b'), std::string::npos);
  EXPECT_NE(all.find("\\u001b]0;title\\u0007\\u009b\\u202e\\n\uFFFD"), std::string::npos) << all;
}

TEST(Terminal, ColorOnlyWhenAllowed) {
  Report report = sample_report();
  report.next = "ridge ops a.json";
  EXPECT_EQ(terminal(report).find('\x1b'), std::string::npos);
  EXPECT_NE(terminal(report, {.color = true, .width = 0}).find("\x1b[1mkernels\x1b[0m\n"), std::string::npos);
}

TEST(Terminal, NextCommandIsTheLastLine) {
  Report report = sample_report();
  report.next = "ridge ops a.json";
  EXPECT_TRUE(terminal(report).ends_with("\n\nnext: ridge ops a.json\n"));
}

TEST(Terminal, SeriesAreTold) {
  Report report;
  report.series = {{"allocated", Unit::bytes, {{0, 1e6}, {1, 3e6}, {2, 2e6}}}};
  EXPECT_EQ(terminal(report), "series\n  allocated  3 points, 1.00 MB to 3.00 MB\n");
}

TEST(Terminal, TotalWithoutAFreeColumnIsStillLabelled) {
  Report report;
  report.tables.resize(1);
  report.tables[0].columns = {{"count", Type::integer, Unit::count}};
  report.tables[0].add_row({integer(1)});
  report.tables[0].total = Row{integer(1)};
  EXPECT_NE(terminal(report).find("1  TOTAL\n"), std::string::npos);
}

}  // namespace
}  // namespace ridge
