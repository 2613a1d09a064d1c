// JSON, the stable contract: schema 2. Everything in the report, exact, in base units; unknown and not-finite values are null.
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

// In the order of the enum; an empty name is written as null.
constexpr std::array<std::string_view, 5> kRoles = {"", "event", "time_start", "time_end", "frame"};

// One report on its way out. Text goes to `out_`, which the sink hands on after every element of a long list.
class JsonReport {
 public:
  JsonReport(const ReportView& report, const RenderOptions& options, const Writer& write)
      : report_(report), longest_(options.longest_text), paths_(options.paths), sink_(write) {}

  Result<void> write() {
    const Report& report = *report_.report;
    out_ += "{\"schema\":2,\"ridge\":";
    string(version());
    out_ += ",\"command\":";
    string(report.command);
    out_ += ",\n\"traces\":";
    array(report.traces, "\n", [&](const TraceRef& each) { trace(each); });
    out_ += ",\n\"tables\":";
    array(report_.tables, "\n", [&](const TableView& each) { table(each); });
    out_ += ",\n\"series\":";
    array(report.series, "\n", [&](const Series& each) { series(each); });
    out_ += ",\n\"diagnostics\":";
    array(report.diagnostics, "\n", [&](const Diagnostic& each) { diagnostic(each); });
    out_ += "}\n";
    return sink_.finish();
  }

 private:
  void string(std::string_view text) { append_json_string(out_, text, longest_); }

  void name(std::string_view name) {
    if (name.empty()) {
      out_ += "null";
    } else {
      string(name);
    }
  }

  void value(std::monostate) { out_ += "null"; }
  void value(bool flag) { out_ += flag ? "true" : "false"; }
  void value(std::int64_t whole) { append_json_number(out_, whole); }
  void value(double number) { append_json_number(out_, number); }
  void value(std::string_view text) { string(text); }
  void cell(const CellView& cell) {
    std::visit([&](const auto& known) { value(known); }, cell);
  }

  // "[a,b,c]", each element by `append(element)`, with `between` after every comma.
  template <class Elements, class Append>
  void array(const Elements& elements, std::string_view between, Append append) {
    out_ += '[';
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out_ += ',';
      out_ += between;
      append(element);
      first = false;
      sink_.settle();
    }
    out_ += ']';
  }

  void column(const Column& column) {
    out_ += "{\"name\":";
    string(column.name);
    out_ += ",\"type\":";
    name(name_of(column.type));
    out_ += ",\"unit\":";
    name(name_of(column.unit));
    out_ += ",\"role\":";
    name(kRoles.at(static_cast<std::size_t>(column.role)));
    out_ += '}';
  }

  void table(const TableView& view) {
    const Table& table = *view.table;
    out_ += "{\"name\":";
    string(table.name);
    out_ += ",\"columns\":";
    array(view.columns, "", [&](std::size_t i) { column(table.columns[i]); });
    out_ += ",\"rows\":";
    array(view.rows, "\n",
          [&](std::uint32_t row) { array(view.columns, "", [&](std::size_t i) { cell(view.cell_of(row, i)); }); });
    out_ += ",\"total\":";
    if (table.total) {
      array(*table.total, "", [&](const Cell& each) { cell(view_of(each)); });
    } else {
      out_ += "null";
    }
    out_ += ",\"parent\":";
    name(table.parent ? std::string_view(*table.parent) : std::string_view());
    out_ += '}';
  }

  void trace(const TraceRef& trace) {
    out_ += "{\"path\":";
    string(paths_ ? trace.path : trace.name);
    out_ += ",\"name\":";
    string(trace.name);
    out_ += '}';
  }

  void series(const Series& series) {
    out_ += "{\"name\":";
    string(series.name);
    out_ += ",\"unit\":";
    name(name_of(series.unit));
    out_ += ",\"points\":";
    array(series.points, "", [&](const auto& point) {
      out_ += '[';
      value(point.first);
      out_ += ',';
      value(point.second);
      out_ += ']';
    });
    out_ += '}';
  }

  void diagnostic(const Diagnostic& diagnostic) {
    out_ += "{\"code\":";
    string(diagnostic.code);
    out_ += ",\"count\":";
    value(diagnostic.count);
    out_ += ",\"message\":";
    string(diagnostic.message);
    out_ += ",\"severity\":";
    string(diagnostic.severity);
    out_ += '}';
  }

  const ReportView& report_;
  const std::size_t longest_;
  const bool paths_;
  Sink sink_;
  std::string& out_ = sink_.text;
};

}  // namespace

Result<void> write_json(const ReportView& report, const RenderOptions& options, const Writer& write) {
  return JsonReport(report, options, write).write();
}

}  // namespace ridge::render
