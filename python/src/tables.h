// Tables and reports as the module has them: handles that keep what they show.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include <ridge/report.h>
#include <ridge/table.h>

namespace ridge::python {

struct TableHandle {
  std::shared_ptr<const Table> table;
};

struct ReportHandle {
  std::shared_ptr<const Report> report;
};

void register_tables(nanobind::module_& module);
void register_reports(nanobind::module_& module);

// Texts of a trace may be any bytes.
nanobind::str text_of(std::string_view bytes);

}  // namespace ridge::python
