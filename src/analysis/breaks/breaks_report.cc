// The tables of `breaks`: what compute_breaks found, as a Report.
#include <string>

#include "analysis/breaks/breaks_report.h"
#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"

namespace ridge {
namespace {

Cell number_cell(std::int32_t value) { return value >= 0 ? Cell(std::int64_t{value}) : Cell(); }

Table breaks_table(const Breaks& breaks) {
  Table table;
  table.name = "breaks";
  table.hints.important = {"location", "gpu_idle_ns", "cpu_ns", "occurrences", "frame", "reason"};
  table.columns = {{"frame", Type::integer},
                   {"parent_frame", Type::integer},
                   {"occurrences", Type::integer, Unit::count},
                   {"location", Type::text, Unit::none, Role::frame},
                   {"reason", Type::text},
                   {"cpu_ns", Type::integer, Unit::ns},
                   {"gpu_idle_ns", Type::integer, Unit::ns}};
  std::int64_t cpu_ns = 0, idle_ns = 0;
  for (const GraphBreak& b : breaks.breaks) {
    table.add_row({number_cell(b.frame.frame), number_cell(b.parent.frame), b.occurrences, cells::text(b.location),
                   cells::text(b.reason), b.cpu_ns, breaks.has_device_work ? Cell(b.gpu_idle_ns) : Cell()});
    saturating_add(&cpu_ns, b.cpu_ns);
    saturating_add(&idle_ns, b.gpu_idle_ns);
  }
  if (!breaks.breaks.empty()) {
    table.total =
        Row{Cell(), Cell(), breaks.occurrences(), Cell(), Cell(), cpu_ns, breaks.has_device_work ? Cell(idle_ns) : Cell()};
  }
  return table;
}

Table regions_table(const Breaks& breaks) {
  Table table;
  table.name = "regions";
  table.columns = {{"frame", Type::integer},
                   {"compile", Type::integer},
                   {"calls", Type::integer, Unit::count},
                   {"cpu_ns", Type::integer, Unit::ns},
                   {"gpu_ns", Type::integer, Unit::ns},
                   {"parent", Type::text},
                   {"depth", Type::integer},
                   {"id", Type::text},
                   {"location", Type::text, Unit::none, Role::frame}};
  for (const RegionRow& r : breaks.regions) {
    table.add_row({number_cell(r.id.frame), number_cell(r.id.compile), r.calls, r.cpu_ns,
                   breaks.has_device_work ? Cell(r.gpu_ns) : Cell(), cells::text(text_of(r.parent)), r.depth,
                   cells::text(text_of(r.id)), cells::text(r.location)});
  }
  return table;
}

Table recompiles_table(const Breaks& breaks) {
  Table table;
  table.name = "recompiles";
  table.columns = {{"frame", Type::integer},
                   {"compile", Type::integer},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"compile_ns", Type::integer, Unit::ns},
                   {"location", Type::text, Unit::none, Role::frame}};
  std::int64_t compile_ns = 0;
  for (const Recompile& r : breaks.recompiles) {
    table.add_row({number_cell(r.id.frame), number_cell(r.id.compile), r.start_ns, r.compile_ns, cells::text(r.location)});
    saturating_add(&compile_ns, r.compile_ns);
  }
  if (!breaks.recompiles.empty()) table.total = Row{Cell(), Cell(), Cell(), compile_ns, Cell()};
  return table;
}

}  // namespace

Report report_breaks(const Breaks& breaks) {
  Report report;
  report.tables = {breaks_table(breaks), regions_table(breaks), recompiles_table(breaks)};
  if (breaks.functions_without_region > 0) {
    report.diagnostics.push_back({"no_compiled_regions", breaks.functions_without_region,
                                  "CompiledFunction calls without compiled regions (PyTorch before 2.2): several per iteration "
                                  "come from graph breaks or from separate torch.compile calls"});
  } else if (!breaks.has_ids) {
    report.diagnostics.push_back({"no_compile_ids", 1,
                                  "compiled regions have no frame ids (PyTorch before 2.5, or 2.5 without record_shapes): "
                                  "breaks are found by nesting alone and cannot be distinguished"});
  }
  if (breaks.maybe_given_up > 0) {
    report.diagnostics.push_back(
        {"maybe_given_up", breaks.maybe_given_up,
         "a compiled function is called again and again, maybe by one that Dynamo gave up (a break in its "
         "loop) and that runs eager: record with_stack=True to know"});
  }
  return report;
}

Result<Report> run_breaks(const Scope& scope, const Arguments&) { return report_breaks(compute_breaks(scope)); }

}  // namespace ridge
