// A canvas of Braille cells with texts over it; a label takes the nearest free row.
#include "render/plot_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <ridge/render.h>

#include "base/units.h"
#include "render/plot_axis.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

constexpr std::size_t kDefaultWidth = 100, kLeastColumns = 24, kMostColumns = 110, kRows = 20;
constexpr std::size_t kNumbered = 9;
constexpr std::string_view kDot = "•";

std::string braille(unsigned dots) {  // U+2800 and the dots as its low eight bits
  const char32_t c = 0x2800 + dots;
  return {static_cast<char>(0xE2), static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
}

// Cells of text over a field of dots, two by four of which make a cell.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), dots_(columns * rows), texts_(columns * rows) {}

  std::size_t columns() const { return columns_; }

  // x and y from 0 to 1, y upwards; what lies outside is not drawn.
  void dot(double x, double y) {
    const auto at = cell(x, y);
    if (!at) return;
    constexpr std::array<std::array<unsigned, 2>, 4> kBits = {{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    const auto part = [](double value, std::size_t cells, std::size_t parts) {
      const auto fine = static_cast<std::size_t>(value * static_cast<double>(cells * parts));
      return std::min(fine, cells * parts - 1) % parts;
    };
    dots_[*at] |= kBits[3 - part(y, rows_, 4)][part(x, columns_, 2)];
  }

  void line(double x1, double y1, double x2, double y2) {
    const double steps = 4.0 * static_cast<double>(columns_ + rows_);
    for (double i = 0; i <= steps; ++i) dot(x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps);
  }

  void mark(double x, double y, std::string text) {
    if (const auto at = cell(x, y)) texts_[*at] = std::move(text);
  }

  // ASCII text that ends at the right edge, in the row above that height, the first free one over it, or the one below.
  void label_right(double y, std::string_view text) {
    const auto at = cell(1, std::clamp(y, 0.0, 1.0));
    if (!at || text.size() > columns_) return;
    const auto is_free = [&](std::size_t row) { return texts_[(row + 1) * columns_ - 1].empty(); };
    std::size_t row = *at / columns_;
    const std::size_t below = row + 1;
    do {
      if (row == 0) {
        row = below;
        break;
      }
      --row;
    } while (!is_free(row));
    if (row >= rows_ || !is_free(row)) return;
    for (std::size_t i = 0; i < text.size(); ++i) texts_[(row + 1) * columns_ - text.size() + i] = std::string(1, text[i]);
  }

  std::string row(std::size_t r) const {
    std::string out;
    for (std::size_t c = 0; c < columns_; ++c) {
      const std::size_t at = r * columns_ + c;
      out += !texts_[at].empty() ? texts_[at] : dots_[at] != 0 ? braille(dots_[at]) : " ";
    }
    return out;
  }

 private:
  std::optional<std::size_t> cell(double x, double y) const {
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return std::nullopt;
    const auto index = [](double value, std::size_t cells) {
      return std::min(static_cast<std::size_t>(value * static_cast<double>(cells)), cells - 1);
    };
    return (rows_ - 1 - index(y, rows_)) * columns_ + index(x, columns_);
  }

  std::size_t columns_, rows_;
  std::vector<unsigned> dots_;
  std::vector<std::string> texts_;
};

void draw(const Plot& plot, const LogAxis& x, const LogAxis& y, Canvas* canvas) {
  for (const PlotLine& line : plot.lines) {
    for (std::size_t i = 1; i < line.points.size(); ++i) {
      const auto& [x1, y1] = line.points[i - 1];
      const auto& [x2, y2] = line.points[i];
      canvas->line(x.place(x1), y.place(y1), x.place(x2), y.place(y2));
    }
  }
  for (const PlotLine& line : plot.lines) {
    if (line.points.empty()) continue;
    const double top = line.points.back().second;
    canvas->label_right(y.place(top), fmt::format("{} {}", line.label, with_unit(top, plot.y.unit)));
  }
  for (std::size_t i = plot.points.size(); i-- > 0;) {
    const std::string text = i < kNumbered ? std::string(1, static_cast<char>('1' + i)) : std::string(kDot);
    canvas->mark(x.place(plot.points[i].x), y.place(plot.points[i].y), text);
  }
}

std::size_t row_at(double place) {
  return kRows - 1 - std::min(static_cast<std::size_t>(std::max(0.0, place) * static_cast<double>(kRows)), kRows - 1);
}

std::size_t column_at(double place, std::size_t columns) {
  return std::min(static_cast<std::size_t>(std::max(0.0, place) * static_cast<double>(columns)), columns - 1);
}

// Labels of the vertical axis, by row.
std::vector<std::string> side_labels(const Plot& plot, const LogAxis& y) {
  std::vector<std::string> labels(kRows);
  for (const double tick : y.ticks()) labels[row_at(y.place(tick))] = tick_text(tick, plot.y);
  return labels;
}

void add_bottom(const Plot& plot, const LogAxis& x, std::size_t margin, std::size_t columns, std::vector<std::string>* lines) {
  std::string axis(margin, ' ');
  std::vector<bool> marked(columns);
  std::string numbers(margin + 1 + columns, ' ');
  std::size_t free_from = 0;
  for (const double tick : x.ticks()) {
    const std::size_t at = column_at(x.place(tick), columns);
    const std::string text = tick_text(tick, plot.x);
    marked[at] = true;
    if (at < free_from || at + text.size() > columns) continue;
    numbers.replace(margin + 1 + at, text.size(), text);
    free_from = at + text.size() + 1;
  }
  axis += "└";
  for (const bool mark : marked) axis += mark ? "┴" : "─";
  lines->push_back(std::move(axis));
  lines->push_back(std::move(numbers));
  lines->push_back(std::string(margin + 1, ' ') + plot.x.label);
}

void add_legend(const Plot& plot, std::size_t width, std::vector<std::string>* lines) {
  for (std::size_t i = 0; i < std::min(plot.points.size(), kNumbered); ++i) {
    const PlotPoint& point = plot.points[i];
    const std::string text =
        fmt::format("  {}  {:>7} of the time  {}", i + 1, format_percent(100 * point.weight), printable(point.label));
    lines->push_back(truncated(text, width));
  }
  if (plot.points.size() > kNumbered) {
    const std::size_t others = plot.points.size() - kNumbered;
    lines->push_back(
        fmt::format("  {}  {} {}", kDot, format_count(static_cast<std::int64_t>(others)), others == 1 ? "other" : "others"));
  }
  if (!plot.note.empty()) lines->push_back(truncated("  " + printable(plot.note), width));
}

}  // namespace

std::vector<std::string> plot_lines(const Plot& plot, std::size_t width) {
  if (width == 0) width = kDefaultWidth;
  const LogAxis x = x_axis(plot), y = y_axis(plot);
  const std::vector<std::string> labels = side_labels(plot, y);
  std::size_t margin = 2;
  for (const std::string& label : labels) margin = std::max(margin, label.size() + 3);
  if (width < margin + 1 + kLeastColumns) return {"  (the terminal is too narrow for the picture)"};
  Canvas canvas(std::min(width - margin - 1, kMostColumns), kRows);
  draw(plot, x, y, &canvas);
  std::vector<std::string> lines = {
      truncated("  " + printable(plot.title) + ": " + plot.y.label + " over " + plot.x.label, width)};
  for (std::size_t r = 0; r < kRows; ++r)
    lines.push_back(fmt::format("{:>{}} {}{}", labels[r], margin - 1, labels[r].empty() ? "│" : "┤", canvas.row(r)));
  add_bottom(plot, x, margin, canvas.columns(), &lines);
  add_legend(plot, width, &lines);
  return lines;
}

}  // namespace ridge::render
