// A report to Python: tables, curves, what to know of them, and its text in any format of the engine.
#include <nanobind/stl/string.h>

#include <ridge/render.h>

#include "cli/saved_report.h"
#include "errors.h"
#include "outside.h"
#include "system_text.h"
#include "tables.h"

namespace nb = nanobind;

namespace ridge::python {
namespace {

nb::list tables_of(const ReportHandle& self) {
  nb::list all;
  for (const Table& table : self.report->tables)
    all.append(nb::cast(TableHandle{std::shared_ptr<const Table>(self.report, &table)}));
  return all;
}

nb::list series_of(const ReportHandle& self) {
  nb::list all;
  for (const Series& series : self.report->series) {
    nb::list points;
    for (const auto& [time_ns, value] : series.points) points.append(nb::make_tuple(time_ns, value));
    all.append(nb::make_tuple(text_of(series.name), text_of(name_of(series.unit)), points));
  }
  return all;
}

nb::list diagnostics_of(const ReportHandle& self) {
  nb::list all;
  for (const Diagnostic& d : self.report->diagnostics) {
    nb::dict row;
    row["code"] = text_of(d.code);
    row["count"] = d.count;
    row["message"] = text_of(d.message);
    row["severity"] = text_of(d.severity);
    all.append(row);
  }
  return all;
}

nb::list traces_of(const ReportHandle& self) {
  nb::list all;
  for (const TraceRef& trace : self.report->traces) all.append(nb::make_tuple(SystemText{trace.path}, text_of(trace.name)));
  return all;
}

nb::str rendered(const ReportHandle& self, const std::string& format, const std::string& sort, std::int64_t limit, bool fold,
                 int width, bool wide) {
  const Format* const found = or_raise(find_format(format));
  const nb::object text = [&] {
    std::string made;
    {
      const Outside outside;
      made = or_raise(
          report_text(*self.report, *found, {.sort = sort, .limit = limit, .fold = fold}, {.width = width, .wide = wide}));
    }
    return nb::object(text_of(made));
  }();
  return nb::borrow<nb::str>(text);
}

// A report of one table alone, no more than its first rows: for its text. 0: all rows.
ReportHandle alone(const TableHandle& handle, std::size_t most_rows) {
  const Table& table = *handle.table;
  auto report = std::make_shared<Report>();
  report->command = table.name;
  if (most_rows == 0 || most_rows >= table.size()) {
    report->tables.push_back(table);
    return {std::move(report)};
  }
  Table& part = report->tables.emplace_back();
  part.name = table.name;
  part.hints.important = table.hints.important;
  for (const Column& column : table.columns)
    part.columns.push_back({column.name, column.type, column.unit, column.role, column.sentence});
  for (std::size_t row = 0; row < most_rows; ++row) part.add_row(table.row(row));
  return {std::move(report)};
}

}  // namespace

void register_reports(nb::module_& module) {
  nb::class_<ReportHandle>(module, "Report")
      .def_prop_ro("command", [](const ReportHandle& self) { return text_of(self.report->command); })
      .def_prop_ro("traces", traces_of)
      .def_prop_ro("tables", tables_of)
      .def_prop_ro("series", series_of)
      .def_prop_ro("diagnostics", diagnostics_of)
      .def_prop_ro("headline", [](const ReportHandle& self) { return text_of(self.report->headline); })
      .def_prop_ro("next", [](const ReportHandle& self) { return text_of(self.report->next); })
      .def_prop_ro("gate_failed", [](const ReportHandle& self) { return self.report->gate_failed; })
      .def_prop_ro("plots", [](const ReportHandle& self) { return self.report->plots.size(); })
      .def("text", rendered, nb::arg("format"), nb::arg("sort") = "", nb::arg("limit") = 0, nb::arg("fold") = false,
           nb::arg("width") = 0, nb::arg("wide") = true);
  module.def("alone", alone);
  module.def("saved_report", [](const std::string& json) {
    return ReportHandle{std::make_shared<const Report>(or_raise(cli::read_saved_report(json)))};
  });
  module.def("formats", [] {
    nb::list all;
    for (const Format& format : formats()) all.append(text_of(format.name));
    return all;
  });
}

}  // namespace ridge::python
