// SVG: the plots of a report, one below the other, with nothing that a browser would have to fetch or run. Names are tooltips.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <ridge/render.h>

#include "render/formats.h"
#include "render/plot_axis.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

constexpr double kWidth = 960, kHeight = 600;                        // of one plot
constexpr double kLeft = 110, kRight = 30, kTop = 50, kBottom = 60;  // margins
constexpr double kSmallest = 3, kLargest = 22;                       // radius of a point
constexpr std::string_view kStyle =
    "<style>text{font:12px "
    "system-ui,sans-serif;fill:#333}.title{font-size:16px}.tick{stroke:#ddd}.roof{fill:none;stroke:#c33;stroke-width:2}"
    ".point{fill:#36c;fill-opacity:.55;stroke:#124}.frame{fill:none;stroke:#888}</style>\n";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

class Drawing {
 public:
  Drawing(const Plot& plot, double top) : plot_(plot), x_(x_axis(plot)), y_(y_axis(plot)), top_(top) {}

  std::string draw() {
    text(kLeft, kTop - 20, plot_.title, "start", "title");
    ticks();
    add("<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", kLeft, top_ + kTop,
        kWidth - kLeft - kRight, kHeight - kTop - kBottom);
    for (const PlotLine& line : plot_.lines) roof(line);
    for (const PlotPoint& point : plot_.points) circle(point);
    text(kLeft + (kWidth - kLeft - kRight) / 2, kHeight - 18, plot_.x.label, "middle");
    text(8, kTop - 20, plot_.y.label, "start");
    if (!plot_.note.empty()) text(kWidth - kRight, kHeight - 4, plot_.note, "end");
    return std::move(out_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  double at_x(double value) const { return kLeft + x_.place(value) * (kWidth - kLeft - kRight); }
  double at_y(double value) const { return top_ + kHeight - kBottom - y_.place(value) * (kHeight - kTop - kBottom); }

  void text(double x, double y, std::string_view content, std::string_view anchor, std::string_view style = "") {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, top_ + y, anchor, style,
        escaped(content));
  }

  void ticks() {
    const double right = kWidth - kRight, top = top_ + kTop, bottom = top_ + kHeight - kBottom;
    for (const double value : x_.ticks()) {
      add("<line class=\"tick\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", at_x(value), top, bottom);
      text(at_x(value), kHeight - kBottom + 18, tick_text(value, plot_.x), "middle");
    }
    for (const double value : y_.ticks()) {
      add("<line class=\"tick\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", kLeft, right, at_y(value));
      text(kLeft - 8, at_y(value) - top_ + 4, tick_text(value, plot_.y), "end");
    }
  }

  void roof(const PlotLine& line) {
    if (line.points.empty()) return;
    out_ += "<polyline class=\"roof\" points=\"";
    for (const auto& [x, y] : line.points) add("{:.1f},{:.1f} ", at_x(x), at_y(y));
    out_ += "\"/>\n";
    const double height = line.points.back().second;
    text(kWidth - kRight - 6, at_y(height) - top_ - 6, line.label + " " + with_unit(height, plot_.y.unit), "end");
  }

  void circle(const PlotPoint& point) {
    const auto inside = [](double place) { return place >= 0 && place <= 1; };
    if (!inside(x_.place(point.x)) || !inside(y_.place(point.y))) return;
    const double radius = kSmallest + (kLargest - kSmallest) * std::sqrt(std::clamp(point.weight, 0.0, 1.0));
    add("<circle class=\"point\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}: {} at {} {}, {} of the "
        "time</title></circle>\n",
        at_x(point.x), at_y(point.y), radius, escaped(point.label), with_unit(point.y, plot_.y.unit),
        with_unit(point.x, plot_.x.unit), escaped(plot_.x.label), with_unit(100 * point.weight, Unit::percent));
  }

  const Plot& plot_;
  LogAxis x_, y_;
  double top_;
  std::string out_;
};

}  // namespace

Result<void> write_svg(const ReportView& view, const RenderOptions&, const Writer& write) {
  const Report& report = *view.report;
  const double height = kHeight * static_cast<double>(std::max<std::size_t>(1, report.plots.size()));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
      kWidth, height);
  out += kStyle;
  out += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  double top = 0;
  for (const Plot& plot : report.plots) {
    out += Drawing(plot, top).draw();
    top += kHeight;
  }
  return write(out + "</svg>\n");
}

}  // namespace ridge::render
