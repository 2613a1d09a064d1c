// Report: the one shape in which every analysis answers. Tables, curves and pictures; renderers and clients know nothing else.
// How a user wants to see it (rows cut off, their order) is no part of it: see <ridge/render.h>.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ridge/table.h>

namespace ridge {

struct Series {
  std::string name;
  Unit unit = Unit::none;
  std::vector<std::pair<std::int64_t, double>> points;  // (time in ns from the window's start, value)
};

// A picture with logarithmic axes, for formats that draw. Whatever it shows stands in a table too, so JSON and CSV leave it
// out.
struct PlotAxis {
  std::string label;
  Unit unit = Unit::none;
};
struct PlotPoint {
  double x = 0, y = 0;  // both above 0
  double weight = 0;    // 0 to 1: how much it matters, drawn as its size
  std::string label;
};
struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points;  // ascending in x
};
struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotPoint> points;  // the weightiest first
  std::vector<PlotLine> lines;
  std::string note;  // what is not in it
};

struct Diagnostic {
  std::string code;  // stable, snake_case
  std::int64_t count = 0;
  std::string message;
  std::string severity = "warning";  // info, warning, error
};

struct TraceRef {
  std::string path;
  std::string name;  // short name to show: the file's name
};

struct Report {
  std::string command;
  std::vector<TraceRef> traces;
  std::vector<Table> tables;
  std::vector<Series> series;
  std::vector<Plot> plots;
  std::vector<Diagnostic> diagnostics;
  std::string headline;      // the answer in a sentence, or empty; people only
  std::string next;          // one suggested next command, or empty; people only
  bool gate_failed = false;  // a gate that the user asked for failed: exit code 3

  std::uint64_t memory_bytes() const;  // about: of tables and series, which are what grows with a trace
};

}  // namespace ridge
