// findings: what to fix first. Each row is one cause, what mending it will bring and at most, how sure that is, what shows it,
// and what to do.
//
// Rules (findings/catalog.cc) run from the most specific cause to the most general and claim time from one ledger
// (findings/ledger.h), so that no nanosecond is taken twice; what they reach besides may overlap. at_most_ns is per iteration,
// an upper bound, and nothing where the trace cannot bound it; no bound exceeds the iteration (facts/iteration_time.h). All
// percentages are of one step: that without the profiler, or where none can be replayed the recorded iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/findings/bounds.h"
#include "analysis/findings/facts.h"
#include "analysis/findings/savings.h"
#include "analysis/findings/unclaimed_idle.h"
#include "facts/scope.h"

namespace ridge {

struct RankedFinding {
  std::string_view id;
  Finding finding;                         // its at_most_ns is of the whole scope
  std::optional<std::int64_t> at_most_ns;  // per iteration
  std::optional<double> at_most_pct;
  std::optional<std::int64_t> shown_ns;  // of at_most_ns, what the recording shows: no more is expected
  std::int64_t taken_ns = 0;             // of the whole scope: of its bound, what no other finding has
  std::int64_t work_ns = 0;              // of its bound, work; both on the device with most of it
  std::optional<std::int64_t> start_ns;  // of its event, from the window's start
  Savings savings = {};                  // per iteration of the program when nobody records it
  Remedy remedy = {};
};

struct Findings {
  std::vector<RankedFinding> rows;  // most savings first, unknown ones last
  Savings all;                      // of all their remedies together
  IterationTime time;               // that the percentages are of
  bool no_device_events = false;
  std::vector<Diagnostic> doubts;        // why the recording itself may mislead
  bool recorder_may_explain = false;     // late launches that no finding claims: the recorder's own cost is as large
  std::vector<UnclaimedIdle> unclaimed;  // what else the device waits for
  std::vector<ClaimPart> claim;          // of the finding that was asked for
  std::int64_t left_out = 0;             // by --ignore or --filter
  BusiestDevice busiest = {};
};

// `ignored`: ids that are not listed. Their time stays claimed: who knows of a cause does not want it under another name.
// `claim_of`: the id of the finding whose pieces of time are kept, of the ledger in `known`.
Findings compute_findings(const Scope& scope, const std::vector<std::string>& ignored = {}, const KnownAnswers& known = {},
                          std::string_view claim_of = {});
// Of some of its rows together.
Savings savings_of(const Findings& findings, std::span<const RankedFinding* const> rows, const StepSavings& savings);
// Of several remedies together: nothing where one of them has no bound.
std::optional<std::int64_t> bound_of_all(std::span<const std::optional<std::int64_t>> bounds, const IterationTime& time);
// Of an answer without findings: that there are none, or that --ignore or --filter leave out those that there are.
inline constexpr std::string_view kNoFindings = "no_findings";
Report report_findings(const Findings& findings);

// What whatif's --do takes to show it.
std::string change_text(const RankedFinding& row);

// The table alone, for the summary: without evidence when `brief`.
Table findings_table(const Findings& findings, bool brief);

}  // namespace ridge
