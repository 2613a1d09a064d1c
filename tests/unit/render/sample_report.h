// A small report made by hand, with every kind of cell, that the tests of the formats share.
#pragma once

#include <cstdint>
#include <string>

#include <ridge/report.h>

#include "support/table_rows.h"

namespace ridge {

inline Cell text(std::string value) { return Cell(std::move(value)); }
inline Cell integer(std::int64_t value) { return Cell(value); }

// Three kernels: the times 600, 300 and 100 us add up to the total, the means do not.
inline Table sample_table() {
  Table table;
  table.name = "kernels";
  table.columns = {{"kernel", Type::text, Unit::none, Role::event},
                   {"count", Type::integer, Unit::count, Role::plain},
                   {"time_ns", Type::integer, Unit::ns, Role::plain},
                   {"mean_ns", Type::number, Unit::ns, Role::plain},
                   {"fused", Type::boolean, Unit::none, Role::plain}};
  set_rows(table, {{text("gemm"), integer(2000), integer(600'000), Cell(300.0), Cell(true)},
                   {text("copy"), integer(3), integer(300'000), Cell(100'000.0), Cell(false)},
                   {text("add"), integer(1), integer(100'000), Cell(), Cell()}});
  table.total = Row{Cell(), integer(2004), integer(1'000'000), Cell(499.0), Cell()};
  return table;
}

inline Report sample_report() {
  Report report;
  report.command = "kernels";
  report.traces = {{"runs/a.json", "a.json"}};
  report.tables = {sample_table()};
  return report;
}

}  // namespace ridge
