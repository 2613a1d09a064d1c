// Rows in the order of the contract, and the table.
#include "analysis/whatif/whatif.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ridge/argument_list.h>

#include "analysis/catalog.h"
#include "analysis/findings/catalog.h"
#include "analysis/findings/findings.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/table_use.h"
#include "base/nearest.h"
#include "base/saturating.h"
#include "base/units.h"
#include "facts/scope_diagnostics.h"

namespace ridge {
namespace {

void add_row(std::string name, const StepSavings& savings, const std::vector<const Remedy*>& remedies, const Savings& found,
             std::string basis, WhatIfAnswer* answer) {
  Scenario row{.name = std::move(name)};
  row.basis = std::move(basis);
  const std::string more = savings.outcome(remedies).basis;
  if (!more.empty()) row.basis += (row.basis.empty() ? "" : "; ") + more;
  row.saves_ns = found.saves_ns;
  row.saves_pct = found.saves_pct;
  row.low_pct = found.low_pct;
  row.high_pct = found.high_pct;
  if (found.saves_ns) row.step_ns = savings.what_if().base_ns() - *found.saves_ns;
  answer->rows.push_back(std::move(row));
}

std::string without_profiler_basis(const Scope& scope, const WhatIf& what_if) {
  const auto measured = what_if.measured_ns();
  if (!explains_measured(what_if)) return unexplained_text(*measured, what_if.without_profiler_ns());
  if (measured)
    return fmt::format("what recording cost the host, fitted to the measured step of {}",
                       format_duration(static_cast<double>(*measured)));
  return fmt::format("between {} and {} in 80 % of cases; what recording cost the host, taken off{}",
                     format_duration(static_cast<double>(what_if.without_profiler_low_ns())),
                     format_duration(static_cast<double>(what_if.without_profiler_high_ns())),
                     scope.model().recorder_costs().calibrated ? "" : "; nothing was calibrated on such a trace");
}

std::string listed_findings(const Findings& findings) {
  if (findings.rows.empty()) return "this trace has no findings";
  std::string ids;
  for (const RankedFinding& row : findings.rows) ids += fmt::format("{}{}", ids.empty() ? "" : ", ", row.id);
  return "findings of this trace: " + ids;
}

// The scope serves the hint alone: ids that the trace has are looked for only where one is wrong.
Result<Asked> parse_asked(const Scope& scope, std::string_view text) {
  constexpr std::string_view kFinding = "finding:";
  Asked asked{.text = std::string(text)};
  if (!text.starts_with(kFinding)) {
    auto change = parse_change(text);
    if (!change) return tl::unexpected(change.error());
    asked.change = std::move(*change);
    return asked;
  }
  asked.finding = text.substr(kFinding.size());
  std::vector<std::string_view> known;
  for (const FindingRow& rule : finding_catalog()) known.push_back(rule.id);
  if (std::ranges::find(known, asked.finding) == known.end()) {
    const std::string near = did_you_mean(asked.finding, known);
    return fail(ErrorCode::usage, "--do: unknown finding '" + asked.finding + "'", "",
                (near.empty() ? "" : near + " ") + listed_findings(compute_findings(scope.unfiltered())));
  }
  return asked;
}

// What a reader who adds up the rows above it would ask.
std::string basis_of_all(const Findings& findings) {
  if (findings.rows.empty()) return "nothing found";
  std::string text = "all findings together", unknown;
  std::int64_t sum = 0;
  for (const RankedFinding& row : findings.rows) {
    if (!row.savings.saves_ns) unknown += (unknown.empty() ? "" : ", ") + std::string(row.id);
    saturating_add(&sum, row.savings.saves_ns.value_or(0));
  }
  const auto all = static_cast<double>(findings.all.saves_ns.value_or(0));
  constexpr double kMore = 1.05;
  if (!unknown.empty()) text += fmt::format("; what {} would save is not known", unknown);
  if (all > kMore * static_cast<double>(sum))
    text += "; more than their sum, since where one alone is mended another still holds the step up";
  return text;
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

WhatIfAnswer compute_whatif(const Scope& scope, const std::vector<Asked>& asked, WhatIf::From from,
                            std::optional<std::int64_t> measured_ns) {
  WhatIfAnswer answer;
  answer.no_device_events = scope.model().timeline().devices.empty();
  answer.table_use = table_use(scope);
  const SavingsOnce savings_once(scope, from, measured_ns);
  // First, since what the rules need and the step's graph need not lie side by side.
  const Findings findings = compute_findings(scope.unfiltered(), {}, {.savings = &savings_once});
  answer.doubts = findings.doubts;
  const StepSavings& savings = savings_once.get();
  const WhatIf& what_if = savings.what_if();
  answer.why_not = what_if.why_not();
  if (!answer.why_not.empty()) {
    for (const std::string_view name : {kRecordedStep, kReplayedStep, kStepWithoutProfiler})
      answer.rows.push_back({.name = std::string(name), .basis = answer.why_not});
    for (const Asked& one : asked) answer.rows.push_back({.name = one.text, .basis = answer.why_not});
    return answer;
  }
  const auto iterations = what_if.length().iterations();
  answer.rows.push_back({.name = std::string(kRecordedStep),
                         .step_ns = what_if.recorded_ns(),
                         .basis = iterations == 1 ? "the iteration" : fmt::format("mean of {} iterations", iterations)});
  answer.rows.push_back(
      {.name = std::string(kReplayedStep), .step_ns = what_if.replayed_ns(), .basis = what_if.replay_basis()});
  answer.rows.push_back({.name = std::string(kStepWithoutProfiler),
                         .step_ns = what_if.without_profiler_ns(),
                         .basis = without_profiler_basis(scope, what_if)});
  std::vector<const Remedy*> all;
  for (const RankedFinding& row : findings.rows) {
    all.push_back(&row.remedy);
    add_row(std::string(row.id), savings, {&row.remedy}, row.savings, row.finding.finding, &answer);
  }
  add_row(std::string(kAllFindings), savings, all, findings.rows.empty() ? savings.of(all, {}) : findings.all,
          basis_of_all(findings), &answer);
  std::vector<Remedy> own;
  own.reserve(asked.size());
  std::vector<const Remedy*> together;
  std::vector<const RankedFinding*> asked_rows;
  for (const Asked& one : asked) {
    const Remedy* remedy = nullptr;
    Savings found;
    std::string basis;
    if (one.change) {
      remedy = &own.emplace_back(Remedy{.changes = {*one.change}});
      found = savings.of({&remedy, 1}, {});
    } else if (const auto row = std::ranges::find(findings.rows, one.finding, &RankedFinding::id); row != findings.rows.end()) {
      remedy = &row->remedy;
      found = row->savings;
      asked_rows.push_back(&*row);
    } else {
      remedy = &own.emplace_back();
      basis = "there is no such finding here; " + listed_findings(findings);
    }
    together.push_back(remedy);
    add_row(one.text, savings, {remedy}, found, std::move(basis), &answer);
  }
  // Findings alone have a bound.
  const auto of_together = [&] {
    return asked_rows.size() == asked.size() ? savings_of(findings, asked_rows, savings) : savings.of(together, {});
  };
  if (asked.size() > 1) add_row(std::string(kTogether), savings, together, of_together(), "", &answer);
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
  report.diagnostics.insert(report.diagnostics.end(), answer.doubts.begin(), answer.doubts.end());
  if (answer.table_use) report.diagnostics.push_back(*answer.table_use);
  return report;
}

Result<Report> run_whatif(const Scope& scope, const Arguments& arguments) {
  std::vector<Asked> asked;
  for (const std::string_view text : listed(arguments, "do")) {
    auto one = parse_asked(scope, text);
    if (!one) return tl::unexpected(one.error());
    asked.push_back(std::move(*one));
  }
  const auto from = arguments.contains("recorded") ? WhatIf::From::recorded : WhatIf::From::without_profiler;
  const auto measured = measured_step(arguments);
  if (!measured) return tl::unexpected(measured.error());
  WhatIfAnswer answer = compute_whatif(scope, asked, from, *measured);
  const std::string headline = headline_of(answer);  // whatever is listed
  std::erase_if(answer.rows, [&](const Scenario& row) { return !scope.matches(row.name); });
  Report report = report_whatif(answer);
  report.headline = headline;
  return report;
}

}  // namespace ridge
