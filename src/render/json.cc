// JSON, the stable contract: schema 1. Everything in the report, exact, in base units; unknown and not-finite values are null.
// One row stands on one line, so that the text can be searched and compared with line tools.
#include <array>
#include <string_view>

#include <ridge/json.h>
#include <ridge/render.h>

#include "base/version.h"
#include "render/formats.h"

namespace ridge::render {
namespace {

// Each in the order of its enum; an empty name is written as null.
constexpr std::array<std::string_view, 4> kTypes = {"text", "integer", "number", "boolean"};
constexpr std::array<std::string_view, 8> kUnits = {"", "count", "ns", "bytes", "flop", "percent", "flop_per_s", "bytes_per_s"};
constexpr std::array<std::string_view, 5> kRoles = {"", "event", "time_start", "time_end", "frame"};

void append_string(std::string& out, std::string_view text) { append_json_string(out, text); }

void append_name(std::string& out, std::string_view name) {
  if (name.empty()) {
    out += "null";
  } else {
    append_string(out, name);
  }
}

struct AppendJsonCell {
  std::string& out;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { append_json_number(out, value); }
  void operator()(double value) const { append_json_number(out, value); }
  void operator()(const std::string& value) const { append_string(out, value); }
};

// "[a,b,c]", each element by `append(element)`, with `between` after every comma.
template <class Elements, class Append>
void append_array(std::string& out, const Elements& elements, std::string_view between, Append append) {
  out += '[';
  bool first = true;
  for (const auto& element : elements) {
    if (!first) out += ',';
    out += between;
    append(element);
    first = false;
  }
  out += ']';
}

void append_row(std::string& out, const Row& row) {
  append_array(out, row, "", [&](const Cell& cell) { std::visit(AppendJsonCell{out}, cell); });
}

void append_column(std::string& out, const Column& column) {
  out += "{\"name\":";
  append_string(out, column.name);
  out += ",\"type\":";
  append_name(out, kTypes.at(static_cast<std::size_t>(column.type)));
  out += ",\"unit\":";
  append_name(out, kUnits.at(static_cast<std::size_t>(column.unit)));
  out += ",\"role\":";
  append_name(out, kRoles.at(static_cast<std::size_t>(column.role)));
  out += '}';
}

void append_table(std::string& out, const Table& table) {
  out += "{\"name\":";
  append_string(out, table.name);
  out += ",\"columns\":";
  append_array(out, table.columns, "", [&](const Column& column) { append_column(out, column); });
  out += ",\"rows\":";
  append_array(out, table.rows, "\n", [&](const Row& row) { append_row(out, row); });
  out += ",\"total\":";
  if (table.total) {
    append_row(out, *table.total);
  } else {
    out += "null";
  }
  out += ",\"parent\":";
  append_name(out, table.parent ? std::string_view(*table.parent) : std::string_view());
  out += '}';
}

void append_trace(std::string& out, const TraceRef& trace) {
  out += "{\"path\":";
  append_string(out, trace.path);
  out += ",\"name\":";
  append_string(out, trace.name);
  out += '}';
}

void append_series(std::string& out, const Series& series) {
  out += "{\"name\":";
  append_string(out, series.name);
  out += ",\"unit\":";
  append_name(out, kUnits.at(static_cast<std::size_t>(series.unit)));
  out += ",\"points\":";
  append_array(out, series.points, "", [&](const auto& point) { append_row(out, {Cell(point.first), Cell(point.second)}); });
  out += '}';
}

void append_diagnostic(std::string& out, const Diagnostic& diagnostic) {
  out += "{\"code\":";
  append_string(out, diagnostic.code);
  out += ",\"count\":";
  append_json_number(out, diagnostic.count);
  out += ",\"message\":";
  append_string(out, diagnostic.message);
  out += ",\"severity\":";
  append_string(out, diagnostic.severity);
  out += '}';
}

}  // namespace

std::string render_json(const Report& report, const RenderOptions&) {
  std::string out = "{\"schema\":1,\"ridge\":";
  append_string(out, version());
  out += ",\"command\":";
  append_string(out, report.command);
  out += ",\n\"traces\":";
  append_array(out, report.traces, "\n", [&](const TraceRef& trace) { append_trace(out, trace); });
  out += ",\n\"tables\":";
  append_array(out, report.tables, "\n", [&](const Table& table) { append_table(out, table); });
  out += ",\n\"series\":";
  append_array(out, report.series, "\n", [&](const Series& series) { append_series(out, series); });
  out += ",\n\"diagnostics\":";
  append_array(out, report.diagnostics, "\n", [&](const Diagnostic& diagnostic) { append_diagnostic(out, diagnostic); });
  out += "}\n";
  return out;
}

}  // namespace ridge::render
