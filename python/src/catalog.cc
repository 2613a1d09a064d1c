// The catalog, the schema and the rewrites as plain Python data: methods, docstrings and type stubs are made from it.
#include <array>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ridge/render.h>
#include <ridge/rewrite.h>
#include <ridge/trace_table.h>

#include "engine.h"
#include "errors.h"
#include "tables.h"

namespace nb = nanobind;

namespace ridge::python {
namespace {

nb::list parameters_of(const AnalysisInfo& info) {
  constexpr std::array<std::string_view, 4> kChanges = {"answer", "scope", "model", "costs"};  // in the order of the enum
  nb::list all;
  for (const Parameter& parameter : info.parameters) {
    nb::dict row;
    row["name"] = text_of(parameter.name);
    row["type"] = text_of(name_of(parameter.type));
    row["description"] = text_of(parameter.description);
    row["names_file"] = parameter.names_file;
    row["repeats"] = parameter.repeats;
    row["changes"] = text_of(kChanges.at(static_cast<std::size_t>(parameter.changes)));
    all.append(row);
  }
  return all;
}

nb::dict analysis_row(const AnalysisInfo& info) {
  nb::dict row;
  row["name"] = text_of(info.name);
  row["description"] = text_of(info.description);
  row["parameters"] = parameters_of(info);
  row["operand"] = text_of(info.operand);
  row["needs_trace"] = info.needs_trace;
  row["whole_job"] = info.whole_job;
  row["fewest_traces"] = info.fewest_traces;
  row["trace_optional"] = info.trace_optional;
  return row;
}

nb::list analysis_rows() {
  nb::list all;
  for (const AnalysisInfo& info : analyses()) all.append(analysis_row(info));
  return all;
}

nb::list rewrite_rows() {
  nb::list all;
  for (const RewriteInfo& rewrite : rewrites()) {
    nb::dict row = analysis_row(rewrite.info);
    row["operands"] = text_of(rewrite.operands);
    row["most_inputs"] = rewrite.most_inputs;
    all.append(row);
  }
  return all;
}

nb::list table_rows() {
  nb::list all;
  for (const TraceTableInfo& table : trace_tables()) {
    nb::dict row;
    row["name"] = text_of(table.name);
    row["description"] = text_of(table.description);
    nb::list columns;
    for (const TraceColumnInfo& column : table.columns) {
      columns.append(nb::make_tuple(text_of(column.name), text_of(name_of(column.type)), text_of(column.unit),
                                    text_of(column.description)));
    }
    row["columns"] = columns;
    all.append(row);
  }
  return all;
}

nb::str nearest(const std::string& word, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return text_of(did_you_mean(word, views));
}

}  // namespace

void register_catalog(nb::module_& module) {
  module.def("analyses", analysis_rows);
  module.def("rewrites", rewrite_rows);
  module.def("trace_tables", table_rows);
  module.def("did_you_mean", nearest);
  module.def("validate", [](const std::string& analysis, const nb::dict& arguments) {
    or_raise(validate_arguments(analysis, arguments_of(arguments)));
  });
  module.def("version", [] { return text_of(version()); });
}

}  // namespace ridge::python
