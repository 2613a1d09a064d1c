// Rows in the order of the contract, and the table.
#include "analysis/whatif/whatif.h"

#include <fmt/format.h>

#include <ridge/argument_list.h>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/units.h"
#include "facts/scope_diagnostics.h"

namespace ridge {
namespace {

void add_outcome(const WhatIf& what_if, std::string name, Outcome outcome, WhatIfAnswer* answer) {
  Scenario row{.name = std::move(name), .step_ns = outcome.step_ns, .low_pct = outcome.low_pct, .high_pct = outcome.high_pct};
  row.basis = std::move(outcome.basis);
  if (row.step_ns) {
    const std::int64_t whole = what_if.base_ns();
    row.saves_ns = whole - *row.step_ns;
    if (whole > 0) row.saves_pct = 100 * static_cast<double>(*row.saves_ns) / static_cast<double>(whole);
  }
  answer->rows.push_back(std::move(row));
}

std::string headline_of(const WhatIfAnswer& answer) {
  const Scenario* recorded = nullptr;
  const Scenario* without = nullptr;
  for (const Scenario& row : answer.rows) {
    if (row.name == kRecordedStep) recorded = &row;
    if (row.name == kStepWithoutProfiler) without = &row;
  }
  if (recorded == nullptr || without == nullptr || !recorded->step_ns || !without->step_ns) return "";
  return fmt::format("in the trace a step takes {}, without the profiler about {}",
                     format_duration(static_cast<double>(*recorded->step_ns)),
                     format_duration(static_cast<double>(*without->step_ns)));
}

}  // namespace

WhatIfAnswer compute_whatif(const Scope& whole, const std::vector<Change>& changes, WhatIf::From from) {
  WhatIfAnswer answer;
  const Scope scope = whole.of_whole_iterations();
  answer.no_device_events = scope.model().timeline().devices.empty();
  const WhatIf what_if(scope, from);
  answer.why_not = what_if.why_not();
  if (!answer.why_not.empty()) {
    for (const std::string_view name : {kRecordedStep, kReplayedStep, kStepWithoutProfiler})
      answer.rows.push_back({.name = std::string(name), .basis = answer.why_not});
    for (const Change& change : changes) answer.rows.push_back({.name = change.text, .basis = answer.why_not});
    return answer;
  }
  answer.rows.push_back({.name = std::string(kRecordedStep),
                         .step_ns = what_if.recorded_ns(),
                         .basis = fmt::format("mean of {} iterations", what_if.length().iterations())});
  answer.rows.push_back(
      {.name = std::string(kReplayedStep), .step_ns = what_if.replayed_ns(), .basis = what_if.replay_basis()});
  answer.rows.push_back({.name = std::string(kStepWithoutProfiler),
                         .step_ns = what_if.without_profiler_ns(),
                         .basis = "about: what recording each event costs the host, taken off"});
  for (const Change& change : changes) add_outcome(what_if, change.text, what_if.outcome({&change, 1}), &answer);
  if (changes.size() > 1) add_outcome(what_if, std::string(kTogether), what_if.outcome(changes), &answer);
  return answer;
}

Report report_whatif(const WhatIfAnswer& answer) {
  Table table;
  table.name = "whatif";
  table.hints.important = {"scenario", "step_ns", "saves_pct", "saves_ns", "low_pct", "high_pct"};
  table.columns = {{"scenario", Type::text},
                   {"step_ns", Type::integer, Unit::ns},
                   {"saves_ns", Type::integer, Unit::ns},
                   {"saves_pct", Type::number, Unit::percent},
                   {"low_pct", Type::number, Unit::percent},
                   {"high_pct", Type::number, Unit::percent},
                   {"basis", Type::text, Unit::none, Role::plain, true}};
  for (const Scenario& row : answer.rows)
    table.add_row({row.name, cells::integer(row.step_ns), cells::integer(row.saves_ns), cells::number(row.saves_pct),
                   cells::number(row.low_pct), cells::number(row.high_pct), cells::text(row.basis)});
  Report report;
  report.headline = headline_of(answer);
  report.tables.push_back(std::move(table));
  if (answer.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_whatif(const Scope& scope, const Arguments& arguments) {
  std::vector<Change> changes;
  for (const std::string_view text : listed(arguments, "do")) {
    auto change = parse_change(text);
    if (!change) return tl::unexpected(change.error());
    changes.push_back(std::move(*change));
  }
  const auto from = arguments.contains("recorded") ? WhatIf::From::recorded : WhatIf::From::without_profiler;
  return report_whatif(compute_whatif(scope, changes, from));
}

}  // namespace ridge
