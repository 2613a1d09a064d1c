// Plots as text and as SVG: places on the axes, safe text, and any numbers.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "render/plot_axis.h"
#include "render/plot_text.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

Plot sample() {
  Plot plot;
  plot.title = "Device";
  plot.x = {"FLOP per byte", Unit::none};
  plot.y = {"FLOP/s", Unit::flop_per_s};
  plot.points = {{100, 1e14, 0.75, "heavy <kernel>"}, {0.1, 1e11, 0.25, "light"}};
  plot.lines = {{"bf16 matrix", {{0.01, 4.8e10}, {200, 9.6e14}, {2000, 9.6e14}}}};
  return plot;
}

// Behind the axis: its labels have digits too.
std::size_t column_of(const std::string& line, std::string_view mark) {
  const std::size_t at = line.find(mark, line.find('\xE2'));
  return at == std::string::npos ? at : display_width(line.substr(0, at));
}

TEST(Plot, AnAxisIsLogarithmic) {
  const LogAxis axis({1, 10, 100});
  EXPECT_NEAR(axis.place(10), 0.5, 1e-9);
  EXPECT_NEAR(axis.place(100) - axis.place(10), axis.place(10) - axis.place(1), 1e-9);
  EXPECT_EQ(axis.ticks(), (std::vector<double>{1, 10, 100}));
}

TEST(Plot, HeavierPointsHaveSmallerNumbersAndHigherOnesStandHigher) {
  const std::vector<std::string> lines = plot_lines(sample(), 80);
  std::size_t heavy = 0, light = 0;
  for (std::size_t i = 1; i <= 20; ++i) {
    const std::string field = lines[i].substr(lines[i].find_first_of("\xE2"));
    if (field.find('1') != std::string::npos && heavy == 0 && field.find("FLOP") == std::string::npos) heavy = i;
    if (field.find('2') != std::string::npos && field.find("FLOP") == std::string::npos) light = i;
  }
  ASSERT_GT(heavy, 0U);
  EXPECT_LT(heavy, light);
  EXPECT_GT(column_of(lines[heavy], "1"), column_of(lines[light], "2"));
  EXPECT_NE(lines[lines.size() - 2].find("75.0 % of the time  heavy <kernel>"), std::string::npos) << lines[lines.size() - 2];
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(Plot, AnyNumbersAndAnyWidth) {
  Plot plot = sample();
  plot.points.push_back({1e-300, 1e300, 0.5, "\x1b[31mred"});
  plot.points.push_back({std::numeric_limits<double>::infinity(), 1, -1, ""});
  for (const std::size_t width : {0U, 1U, 20U, 40U, 79U, 400U}) {
    for (const std::string& line : plot_lines(plot, width)) EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
  EXPECT_FALSE(plot_lines(Plot{}, 80).empty());
}

TEST(Plot, SvgIsClosedAndItsTextEscaped) {
  Report report;
  report.plots = {sample()};
  const std::string svg = *report_text(report, **find_format("svg"));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("heavy &lt;kernel&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("<kernel>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("<circle"), std::string::npos);
  EXPECT_NE(svg.find("<polyline"), std::string::npos);
}

}  // namespace
}  // namespace ridge::render
