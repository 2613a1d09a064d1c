// JSON, the stable contract: schema 1. Everything in the report, exact, in base units; unknown and not-finite values are null.
// One row stands on one line, so that the text can be searched and compared with line tools.
#include <array>
#include <string_view>

#include <ridge/json.h>
#include <ridge/render.h>

#include "base/version.h"
#include "render/formats.h"
#include "render/sink.h"

namespace ridge::render {
namespace {

// Each in the order of its enum; an empty name is written as null.
constexpr std::array<std::string_view, 4> kTypes = {"text", "integer", "number", "boolean"};
constexpr std::array<std::string_view, 8> kUnits = {"", "count", "ns", "bytes", "flop", "percent", "flop_per_s", "bytes_per_s"};
constexpr std::array<std::string_view, 5> kRoles = {"", "event", "time_start", "time_end", "frame"};

// One report on its way out. Text goes to `out`, which the sink hands on after every element of a long list.
class JsonReport {
 public:
  JsonReport(const ReportView& report, const RenderOptions& options, const Writer& write)
      : report_(report), longest_(options.longest_text), sink_(write) {}

  Result<void> write() {
    const Report& report = *report_.report;
    out += "{\"schema\":1,\"ridge\":";
    string(version());
    out += ",\"command\":";
    string(report.command);
    out += ",\n\"traces\":";
    array(report.traces, "\n", [&](const TraceRef& each) { trace(each); });
    out += ",\n\"tables\":";
    array(report_.tables, "\n", [&](const TableView& each) { table(each); });
    out += ",\n\"series\":";
    array(report.series, "\n", [&](const Series& each) { series(each); });
    out += ",\n\"diagnostics\":";
    array(report.diagnostics, "\n", [&](const Diagnostic& each) { diagnostic(each); });
    out += "}\n";
    return sink_.finish();
  }

 private:
  void string(std::string_view text) { append_json_string(out, text, longest_); }

  void name(std::string_view name) {
    if (name.empty()) {
      out += "null";
    } else {
      string(name);
    }
  }

  void value(std::monostate) { out += "null"; }
  void value(bool flag) { out += flag ? "true" : "false"; }
  void value(std::int64_t whole) { append_json_number(out, whole); }
  void value(double number) { append_json_number(out, number); }
  void value(std::string_view text) { string(text); }
  void cell(const CellView& cell) {
    std::visit([&](const auto& known) { value(known); }, cell);
  }

  // "[a,b,c]", each element by `append(element)`, with `between` after every comma.
  template <class Elements, class Append>
  void array(const Elements& elements, std::string_view between, Append append) {
    out += '[';
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out += ',';
      out += between;
      append(element);
      first = false;
      sink_.settle();
    }
    out += ']';
  }

  void column(const Column& column) {
    out += "{\"name\":";
    string(column.name);
    out += ",\"type\":";
    name(kTypes.at(static_cast<std::size_t>(column.type)));
    out += ",\"unit\":";
    name(kUnits.at(static_cast<std::size_t>(column.unit)));
    out += ",\"role\":";
    name(kRoles.at(static_cast<std::size_t>(column.role)));
    out += '}';
  }

  void table(const TableView& view) {
    const Table& table = *view.table;
    out += "{\"name\":";
    string(table.name);
    out += ",\"columns\":";
    array(view.columns, "", [&](std::size_t i) { column(table.columns[i]); });
    out += ",\"rows\":";
    array(view.rows, "\n",
          [&](std::uint32_t row) { array(view.columns, "", [&](std::size_t i) { cell(view.cell_of(row, i)); }); });
    out += ",\"total\":";
    if (table.total) {
      array(*table.total, "", [&](const Cell& each) { cell(view_of(each)); });
    } else {
      out += "null";
    }
    out += ",\"parent\":";
    name(table.parent ? std::string_view(*table.parent) : std::string_view());
    out += '}';
  }

  void trace(const TraceRef& trace) {
    out += "{\"path\":";
    string(trace.path);
    out += ",\"name\":";
    string(trace.name);
    out += '}';
  }

  void series(const Series& series) {
    out += "{\"name\":";
    string(series.name);
    out += ",\"unit\":";
    name(kUnits.at(static_cast<std::size_t>(series.unit)));
    out += ",\"points\":";
    array(series.points, "", [&](const auto& point) {
      out += '[';
      value(point.first);
      out += ',';
      value(point.second);
      out += ']';
    });
    out += '}';
  }

  void diagnostic(const Diagnostic& diagnostic) {
    out += "{\"code\":";
    string(diagnostic.code);
    out += ",\"count\":";
    value(diagnostic.count);
    out += ",\"message\":";
    string(diagnostic.message);
    out += ",\"severity\":";
    string(diagnostic.severity);
    out += '}';
  }

  const ReportView& report_;
  const std::size_t longest_;
  Sink sink_;
  std::string& out = sink_.text;
};

}  // namespace

Result<void> write_json(const ReportView& report, const RenderOptions& options, const Writer& write) {
  return JsonReport(report, options, write).write();
}

}  // namespace ridge::render
