// Report: the one shape in which every analysis answers. Typed columns with units; renderers and clients know nothing else.
// Values are in base units (ns, bytes, FLOP), percent as 0-100; an unknown value is std::monostate and never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ridge {

enum class Type : std::uint8_t { text, integer, number, boolean };

enum class Unit : std::uint8_t { none, count, ns, bytes, flop, percent, flop_per_s, bytes_per_s };

// What a click on a cell opens; `plain` cells open nothing.
enum class Role : std::uint8_t { plain, event, time_start, time_end, frame };

using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Row = std::vector<Cell>;  // one cell per column, in the columns' order

struct Column {
  std::string name;  // snake_case, stable: part of the JSON and CSV contract
  Type type = Type::text;
  Unit unit = Unit::none;
  Role role = Role::plain;
  bool sentence = false;  // on a terminal it stands under its row, whole, instead of in it
};

enum class Chart : std::uint8_t { none, bars, stacked_bars, line, scatter_log, flame };

// `rows` never hold the total or "[N others]". `others` and `others_row` are filled by a view that cut rows off and are for
// people only.
struct Table {
  std::string name;  // snake_case; the first table of a report bears the command's name
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::optional<Row> total;
  std::optional<std::string> parent;  // name of the column that holds the parent row's key, when the table is a tree
  Chart chart = Chart::none;
  std::int64_t others = 0;  // how many rows a view cut off
  // Where not all columns fit, people see these first, in this order of importance; then the others from left to right.
  std::vector<std::string> important;
  bool key_value = false;  // one row that people read better as lines of "name  value"
  bool leads = false;      // for people it stands before the tables that do not; JSON and CSV keep the order
  // Boolean columns: for people, rows in which none of them is true are folded into one, "[N unchanged]". Filled by a view:
  std::vector<std::string> fold_unless;
  std::int64_t folded = 0;
  Row folded_row;  // sums over them, as in others_row
  // What people see in place of `rows`, where equal rows are taken together; empty: `rows`.
  std::vector<Row> people;
  Row others_row;  // sums over the rows cut off, in the columns whose rows add up to the total; empty: nothing was cut
};

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
};

}  // namespace ridge
