// Runs the rules over one ledger, ranks what they found and tables it. The rules are the files beside this one.
#include "analysis/findings/findings.h"

#include <algorithm>
#include <map>
#include <set>

#include <ridge/argument_list.h>

#include "analysis/catalog.h"
#include "analysis/findings/bounds.h"
#include "analysis/findings/catalog.h"
#include "analysis/findings/claim_table.h"
#include "analysis/findings/hidden_waits.h"
#include "analysis/launches/launches.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/iteration_table.h"
#include "base/free_memory.h"
#include "base/nearest.h"
#include "base/saturating.h"
#include "base/stop.h"
#include "facts/early_work.h"
#include "facts/recorded_twice.h"
#include "facts/scope_diagnostics.h"

namespace ridge {
namespace {

constexpr std::string_view kLateLaunches = "launch_bound";

RankedFinding ranked(const FindingRow& rule, Finding finding, const Findings& of, const Scope& scope) {
  RankedFinding row{
      .id = rule.id, .finding = std::move(finding), .at_most_ns = {}, .at_most_pct = {}, .shown_ns = {}, .start_ns = {}};
  if (row.finding.event) row.start_ns = scope.trace().events.ts_ns(*row.finding.event) - scope.origin_ns();
  if (!row.finding.at_most_ns) return row;
  row.at_most_ns = *row.finding.at_most_ns / of.time.divisor();
  if (const std::int64_t all = of.time.total_ns(); all > 0)
    row.at_most_pct = 100.0 * static_cast<double>(*row.finding.at_most_ns) / static_cast<double>(all);
  return row;
}

// To what the program may have to gain, where the recording shows less.
void widen_bound(std::int64_t bound_ns, const IterationTime& time, RankedFinding* row) {
  row->shown_ns = row->at_most_ns;
  if (!row->at_most_ns) return;
  row->at_most_ns = std::max(*row->at_most_ns, bound_ns / time.divisor());
  if (const std::int64_t mean = time.mean_ns(); mean > 0)
    row->at_most_pct = 100.0 * static_cast<double>(*row->at_most_ns) / static_cast<double>(mean);
}

std::string near_or_all(const std::string& id, const std::vector<std::string_view>& known) {
  std::string hint = did_you_mean(id, known);
  if (!hint.empty()) return hint;
  for (const std::string_view name : known) hint += (hint.empty() ? "known ids: " : ", ") + std::string(name);
  return hint;
}

Result<void> known_id(const std::string& flag, const std::string& id) {
  std::vector<std::string_view> known;
  for (const FindingRow& rule : finding_catalog()) known.push_back(rule.id);
  if (std::find(known.begin(), known.end(), id) != known.end()) return {};
  return fail(ErrorCode::usage, "--" + flag + ": unknown finding '" + id + "'", "", near_or_all(id, known));
}

Result<std::vector<std::string>> ignored_ids(const Arguments& arguments) {
  std::vector<std::string> ids;
  for (const std::string_view text : listed(arguments, "ignore")) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      std::string id(text.substr(from, comma - from));
      from = comma + 1;
      if (id.empty()) continue;
      if (const auto known = known_id("ignore", id); !known) return tl::unexpected(known.error());
      ids.push_back(std::move(id));
    }
  }
  return ids;
}

// On the device with most of it.
template <class Counts>
std::int64_t most_on_a_device(const std::vector<ClaimPart>& parts, Counts counts) {
  std::map<std::uint32_t, std::int64_t> by_device;
  std::int64_t most = 0;
  for (const ClaimPart& part : parts) {
    if (counts(part)) most = std::max(most, by_device[part.device] += part.ns);
  }
  return most;
}

// A finding that saves nothing says why: nothing is expected to go, or the step does not wait for it. What is known to save
// nothing (comes_true) has said it.
void say_why_nothing(RankedFinding* row) {
  if (row->savings.saves_ns != 0 || row->finding.comes_true == 0) return;
  constexpr double kLikelyNothing = 5;  // percent of the step: what may come of it at most, for what is known of its length
  const bool may_bring = row->savings.high_pct.value_or(0) > kLikelyNothing, changes = !row->finding.changes.empty();
  if (changes && !(may_bring && is_of_host(row->remedy))) return;
  row->finding.finding +=
      !changes && row->remedy.removal.empty() ? "; in its mended form it is expected to take as long"
      : may_bring ? "; the step is not thought to wait for it, but how long it takes unrecorded is not known well enough: "
                    "measure it, and give it as --step-time"
                  : "; the step does not wait for it, so that mending it saves nothing";
}

std::optional<std::int64_t> least_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

// Percentages are of the step that savings are of, the bound's too.
void add_savings(const StepSavings& savings, const Ledger& ledger, Findings* findings) {
  findings->busiest = busiest_of(ledger);
  std::vector<const RankedFinding*> all;
  const std::int64_t step_ns = savings.what_if().base_ns();
  for (RankedFinding& row : findings->rows) {
    const Remedy* remedy = &row.remedy;
    if (row.at_most_ns) row.at_most_ns = std::min(*row.at_most_ns, most_possible_ns(savings, row.work_ns, ledger));
    row.savings =
        savings.of({&remedy, 1}, row.at_most_ns, least_of(certain_ns(savings, {&remedy, 1}, findings->busiest), row.shown_ns));
    if (row.savings.low_pct && is_of_host(*remedy) && recorder_may_be_all(savings, ledger)) {
      row.savings.low_pct = std::min(0.0, *row.savings.low_pct);
      findings->recorder_may_explain = findings->recorder_may_explain || row.id == kLateLaunches;
    }
    say_why_nothing(&row);
    all.push_back(&row);
    if (row.at_most_ns && step_ns > 0)
      row.at_most_pct = std::min(100.0, 100 * static_cast<double>(*row.at_most_ns) / static_cast<double>(step_ns));
  }
  findings->all = savings_of(*findings, all, savings);
}

// What was looked for, in the order in which causes claim time.
Table causes_table(const Findings& findings) {
  Table table;
  table.name = "causes";
  table.columns = {{"id", Type::text}, {"rank", Type::integer}, {"cause", Type::text}};
  for (const FindingRow& rule : finding_catalog()) {
    const auto row = std::find_if(findings.rows.begin(), findings.rows.end(),
                                  [&](const RankedFinding& found) { return found.id == rule.id; });
    table.add_row({std::string(rule.id), row == findings.rows.end() ? Cell() : Cell(row - findings.rows.begin() + 1),
                   std::string(rule.description)});
  }
  return table;
}

// What the recorder hides of the host's waits, where the rules themselves have found none.
struct HiddenRule {
  std::string_view id;
  std::optional<Finding> (*find)(const Facts& facts, const StepSavings& savings);
};
constexpr HiddenRule kHidden[] = {{"dataloader", find_hidden_dataloader}, {"host_sync", find_hidden_host_sync}};

template <class IsListed>
void add_hidden(const Facts& facts, const StepSavings& savings, const std::set<std::string_view>& found, IsListed is_listed,
                Findings* out) {
  for (const HiddenRule& hidden : kHidden) {
    if (found.contains(hidden.id)) continue;
    const auto rule = std::ranges::find(finding_catalog(), hidden.id, &FindingRow::id);
    auto finding = hidden.find(facts, savings);
    if (!finding) continue;
    out->left_out += !is_listed(hidden.id);
    if (!is_listed(hidden.id)) continue;
    Remedy remedy = remedy_of(facts.scope(), facts.ledger(), *finding, rule->spreads, {});
    out->rows.push_back(ranked(*rule, std::move(*finding), *out, facts.scope()));
    out->rows.back().remedy = std::move(remedy);
  }
}

}  // namespace

std::optional<std::int64_t> bound_of_all(std::span<const std::optional<std::int64_t>> bounds, const IterationTime& time) {
  std::int64_t sum = 0;
  for (const std::optional<std::int64_t>& bound : bounds) {
    if (!bound) return std::nullopt;
    saturating_add(&sum, *bound);
  }
  return std::min(sum, time.mean_ns());
}

Savings savings_of(const Findings& findings, std::span<const RankedFinding* const> rows, const StepSavings& savings) {
  std::vector<const Remedy*> remedies;
  std::vector<std::optional<std::int64_t>> bounds, shown;
  for (const RankedFinding* row : rows) {
    remedies.push_back(&row->remedy);
    bounds.push_back(row->at_most_ns);
    shown.push_back(row->shown_ns);
  }
  return savings.of(remedies, bound_of_all(bounds, findings.time),
                    least_of(certain_ns(savings, remedies, findings.busiest), bound_of_all(shown, findings.time)));
}

Findings compute_findings(const Scope& all, const std::vector<std::string>& ignored, const KnownAnswers& known,
                          std::string_view claim_of) {
  const Scope scope = all.of_whole_iterations();  // what is said per iteration is of these
  Findings out;
  out.no_device_events = scope.model().timeline().devices.empty();
  if (out.no_device_events) return out;
  std::optional<Ledger> own;
  Ledger& ledger = known.ledger != nullptr ? *known.ledger : own.emplace(scope);
  out.time = ledger.time();
  if (const std::size_t copies = find_recorded_twice(scope).size(); copies > 0) out.doubts.push_back(recorded_twice(copies));
  if (const EarlyWork early = find_early_work(scope); !early.events.empty())
    out.doubts.push_back(before_launch(early.events.size(), early.largest_lead_ns));
  Facts facts(scope, ledger, known);
  give_back_free_memory(scope.trace().events.size());  // what the tables were made with
  const auto is_listed = [&](std::string_view id) {
    return std::find(ignored.begin(), ignored.end(), id) == ignored.end() && scope.matches(id);
  };
  std::set<std::string_view> found;  // listed or not
  for (const FindingRow& rule : finding_catalog()) {
    Stop::look();
    ledger.allow(rule.idle, rule.work, rule.reach);
    std::optional<Finding> finding = rule.find(facts);
    std::vector<ClaimPart> kept = ledger.take_kept();
    if (finding && rule.id == claim_of) out.claim = kept;
    const bool listed = is_listed(rule.id);
    if (finding) found.insert(rule.id);
    if (finding && listed) {
      Remedy remedy = remedy_of(scope, ledger, *finding, rule.spreads, kept);
      finding->gone = {};  // the remedy has it
      out.rows.push_back(ranked(rule, std::move(*finding), out, scope));
      out.rows.back().taken_ns = most_on_a_device(kept, [](const ClaimPart& part) { return !part.reached; });
      out.rows.back().work_ns = most_on_a_device(kept, [](const ClaimPart& part) { return !part.idle; });
      widen_bound(bound_of_claim(scope, ledger, kept, remedy), out.time, &out.rows.back());
      out.rows.back().remedy = std::move(remedy);
    }
    out.left_out += finding && !listed;
  }
  const bool claimed = std::ranges::find(out.rows, kLateLaunches, &RankedFinding::id) != out.rows.end();
  out.recorder_may_explain = !claimed && std::ranges::any_of(facts.launch_rates(), &DeviceLaunches::recorder_may_explain);
  out.unclaimed = find_unclaimed_idle(ledger);
  // The step's graph takes the place of what the rules needed.
  facts.forget();
  if (claim_of.empty()) ledger.close();
  scope.let_go_of_idle();
  give_back_free_memory(scope.trace().events.size());
  const SavingsOnce own_savings(scope);
  const SavingsOnce& savings = known.savings != nullptr ? *known.savings : own_savings;
  // Where the device waits: nothing else asks for the step's graph when nothing was found.
  if (out.recorder_may_explain || !out.rows.empty() || !out.unclaimed.empty())
    add_hidden(facts, savings.get(), found, is_listed, &out);
  if (!out.rows.empty()) add_savings(savings.get(), ledger, &out);
  // Stable: equal savings, and unknown ones, stay in the order of the catalog.
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const RankedFinding& a, const RankedFinding& b) {
    const auto key = [](const RankedFinding& row) {
      // What cannot be told may be all of its bound.
      const std::int64_t most = row.at_most_ns.value_or(-1);
      return std::pair(row.savings.saves_ns.value_or(most), most);
    };
    return key(a) > key(b);
  });
  return out;
}

std::string change_text(const RankedFinding& row) {
  std::string text;
  if (row.savings.less_than_change) return "finding:" + std::string(row.id);  // which promises as much in whatif, too
  for (const std::string& change : row.finding.changes) text += (text.empty() ? "" : " ") + change;
  return text.empty() ? "finding:" + std::string(row.id) : text;
}

Table findings_table(const Findings& findings, bool brief) {
  Table table;
  table.name = "findings";
  table.columns = {{"rank", Type::integer},
                   {"id", Type::text},
                   {"finding", Type::text, Unit::none, Role::plain, true},
                   {"saves_ns", Type::integer, Unit::ns},
                   {"saves_pct", Type::number, Unit::percent},
                   {"low_pct", Type::number, Unit::percent},
                   {"high_pct", Type::number, Unit::percent},
                   {"at_most_ns", Type::integer, Unit::ns},
                   {"at_most_pct", Type::number, Unit::percent},
                   {"confidence", Type::text},
                   {"evidence", Type::text, Unit::none, Role::plain, true},
                   {"do", Type::text, Unit::none, Role::plain, true},
                   {"change", Type::text},
                   {"event", Type::integer, Unit::none, Role::event},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start}};
  table.hints.important = {"rank", "id", "saves_ns", "saves_pct", "low_pct", "high_pct", "at_most_ns", "confidence"};
  constexpr std::ptrdiff_t kEvidence = 10;
  if (brief) table.columns.erase(table.columns.begin() + kEvidence);
  for (std::size_t i = 0; i < findings.rows.size(); ++i) {
    const RankedFinding& row = findings.rows[i];
    Row cells = {static_cast<std::int64_t>(i + 1),
                 std::string(row.id),
                 row.finding.finding,
                 cells::integer(row.savings.saves_ns),
                 cells::number(row.savings.saves_pct),
                 cells::number(row.savings.low_pct),
                 cells::number(row.savings.high_pct),
                 row.at_most_ns ? Cell(*row.at_most_ns) : Cell(),
                 row.at_most_pct ? Cell(*row.at_most_pct) : Cell(),
                 std::string(name_of(row.finding.confidence)),
                 row.finding.evidence,
                 row.finding.action,
                 change_text(row),
                 row.finding.event ? Cell(std::int64_t{row.finding.event->value}) : Cell(),
                 row.start_ns ? Cell(*row.start_ns) : Cell()};
    if (brief) cells.erase(cells.begin() + kEvidence);
    table.add_row(cells);
  }
  return table;
}

Report report_findings(const Findings& findings) {
  Report report;
  report.tables = {findings_table(findings, false)};
  if (!findings.no_device_events) report.tables.push_back(iteration_table(findings.time));
  if (findings.recorder_may_explain) {
    report.diagnostics.push_back({"recorder_may_explain", 1,
                                  "the device waits for launches, but no longer than recording itself may have held up the "
                                  "host: time a step without the profiler to know whether the program is launch-bound",
                                  "info"});
  }
  report.diagnostics.insert(report.diagnostics.end(), findings.doubts.begin(), findings.doubts.end());
  if (findings.no_device_events) {
    report.diagnostics.push_back(no_device_events());
  } else if (findings.rows.empty()) {
    report.headline =
        findings.left_out > 0
            ? "nothing to list: --ignore or --filter (by id) hides all " + std::to_string(findings.left_out) + " found"
        : !findings.unclaimed.empty() ? "nothing found: " + text_of(findings.unclaimed)
                                      : "nothing found: none of the known causes takes a notable share of the time";
    report.diagnostics.push_back({std::string(kNoFindings), 0, report.headline, "info"});
  }
  if (!findings.unclaimed.empty())
    report.diagnostics.push_back({"idle_without_finding", 1, text_of(findings.unclaimed), "info"});
  return report;
}

Result<Report> run_findings(const Scope& all, const Arguments& arguments) {
  const Scope scope = all.of_whole_iterations();  // the ledger's too
  auto ignored = ignored_ids(arguments);
  if (!ignored) return tl::unexpected(ignored.error());
  const auto measured = measured_step(arguments);
  if (!measured) return tl::unexpected(measured.error());
  const SavingsOnce savings(scope, WhatIf::From::without_profiler, *measured);
  const auto report = [&](const Findings& findings) {
    Report out = report_findings(findings);
    if (arguments.contains("all")) out.tables.push_back(causes_table(findings));
    if (*measured && !explains_measured(savings.get().what_if()))
      out.diagnostics.push_back(
          {"step_time_unexplained", 1, unexplained_text(**measured, savings.get().what_if().without_profiler_ns()), "warning"});
    return out;
  };
  const auto claim_of = arguments.find("claim");
  if (claim_of == arguments.end() || scope.model().timeline().devices.empty())
    return report(compute_findings(scope, *ignored, {.savings = &savings}));
  if (const auto id = known_id("claim", claim_of->second); !id) return tl::unexpected(id.error());
  Ledger ledger(scope);
  const Findings findings = compute_findings(scope, *ignored, {.ledger = &ledger, .savings = &savings}, claim_of->second);
  Report with_claim = report(findings);
  for (Table& table : claim_tables(scope, ledger, findings.claim)) with_claim.tables.push_back(std::move(table));
  return with_claim;
}

}  // namespace ridge
