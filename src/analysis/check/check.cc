// Overlaps, copies, clocks and missing device work, beside what the reader counted; then the tables.
#include "analysis/check/check.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/catalog.h"
#include "facts/early_work.h"
#include "facts/recorded_twice.h"
#include "facts/scope_diagnostics.h"

namespace ridge {
namespace {

struct Slice {
  TrackId track;
  EventId event;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

std::vector<Slice> slices_by_track(const Trace& trace) {
  constexpr EventClass kSliced[] = {EventClass::op, EventClass::annotation, EventClass::python_frame, EventClass::launch,
                                    EventClass::device_work};
  std::vector<Slice> slices;
  for (const EventClass c : kSliced) {
    for (const EventId event : trace.of(c)) {
      const auto dur = trace.events.dur_ns(event);
      const std::int64_t ts = trace.events.ts_ns(event);
      if (dur && ts != kNoTime) slices.push_back({trace.track(event), event, ts, ts + *dur});
    }
  }
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.track, a.start_ns, -a.end_ns, a.event) < std::tuple(b.track, b.start_ns, -b.end_ns, b.event);
  });
  return slices;
}

CheckRow row_for(std::string_view problem, std::vector<EventId> events, Severity severity, std::string message,
                 const Trace& trace) {
  CheckRow row{std::string(problem), static_cast<std::int64_t>(events.size()), {}, severity, std::move(message)};
  if (trace.places.empty()) return row;
  std::sort(events.begin(), events.end());
  events.resize(std::min(events.size(), Diagnostics::kMostOffsets));
  for (const EventId event : events) row.offsets.push_back(trace.places[event.value].begin);
  return row;
}

}  // namespace

std::vector<EventId> find_partial_overlaps(const Trace& trace) {
  std::vector<EventId> overlaps;
  std::vector<std::int64_t> open;  // ends of the slices around the current one, outermost first
  TrackId track;
  for (const Slice& slice : slices_by_track(trace)) {
    if (slice.track != track) open.clear();
    track = slice.track;
    while (!open.empty() && open.back() <= slice.start_ns) open.pop_back();
    if (!open.empty() && slice.end_ns > open.back()) {
      overlaps.push_back(slice.event);
      // It outlives what it overlaps: it takes the place of all that end before it.
      while (!open.empty() && open.back() < slice.end_ns) open.pop_back();
    }
    open.push_back(slice.end_ns);
  }
  return overlaps;
}

Check compute_check(const Scope& scope) {
  const Trace& trace = scope.trace();
  Check check;
  for (std::size_t i = 0; i < kProblems; ++i) {
    const Diagnostics::Entry& entry = trace.diagnostics[static_cast<Problem>(i)];
    if (entry.count == 0) continue;
    const ProblemRow& row = row_of(static_cast<Problem>(i));
    check.rows.push_back(
        {std::string(row.code), static_cast<std::int64_t>(entry.count), entry.offsets, row.severity, std::string(row.message)});
  }
  if (std::vector<EventId> overlaps = find_partial_overlaps(trace); !overlaps.empty()) {
    check.rows.push_back(row_for("partial_overlap", std::move(overlaps), Severity::info,
                                 "slices of one track overlap without nesting; all are kept", trace));
  }
  if (trace.of(EventClass::device_work).empty()) {
    const std::string_view why =
        is_cut_short(trace)
            ? kDeviceEventsCutOff
            : "no kernel, memcpy or memset was recorded: profile with ProfilerActivity.CUDA (or your device's activity)";
    check.rows.push_back({std::string(kNoDeviceEvents), 1, {}, Severity::info, std::string(why)});
  }
  if (EarlyWork early = find_early_work(scope); !early.events.empty()) {
    std::string message = before_launch(early.events.size(), early.largest_lead_ns).message;
    check.rows.push_back(row_for(kBeforeLaunch, std::move(early.events), Severity::warning, std::move(message), trace));
  }
  if (std::vector<EventId> copies = find_recorded_twice(scope); !copies.empty()) {
    std::string message = recorded_twice(copies.size()).message;
    check.rows.push_back(row_for(kRecordedTwice, std::move(copies), Severity::warning, std::move(message), trace));
  }
  check.metrics = find_odd_metrics(scope);
  for (std::size_t i = 0; i < kMetricProblems; ++i) {
    const MetricProblemRow& row = row_of(static_cast<MetricProblem>(i));
    const auto count = std::count_if(check.metrics.begin(), check.metrics.end(),
                                     [&](const OddMetric& m) { return m.problem == static_cast<MetricProblem>(i); });
    if (count > 0) check.rows.push_back({std::string(row.code), count, {}, row.severity, std::string(row.message)});
  }
  std::stable_sort(check.rows.begin(), check.rows.end(),
                   [](const CheckRow& a, const CheckRow& b) { return a.severity > b.severity; });
  return check;
}

Report report_check(const Check& check, bool strict) {
  Table table;
  table.name = "check";
  table.columns = {{"problem", Type::text},
                   {"count", Type::integer, Unit::count},
                   {"first_offset", Type::integer},
                   {"severity", Type::text},
                   {"message", Type::text, Unit::none, Role::plain, true}};
  Table places;
  places.name = "places";
  places.columns = {{"problem", Type::text}, {"offset", Type::integer}};
  Report report;
  for (const CheckRow& found : check.rows) {
    const Cell first = found.offsets.empty()
                           ? Cell()
                           : Cell(static_cast<std::int64_t>(*std::min_element(found.offsets.begin(), found.offsets.end())));
    table.add_row({found.problem, found.count, first, std::string(name_of(found.severity)), found.message});
    for (const std::uint64_t offset : found.offsets) places.add_row({found.problem, static_cast<std::int64_t>(offset)});
    report.gate_failed |= strict && found.severity == Severity::error;
  }
  report.tables = {std::move(table), std::move(places), metrics_table(check.metrics)};
  return report;
}

Result<Report> run_check(const Scope& scope, const Arguments& arguments) {
  return report_check(compute_check(scope), arguments.contains("strict"));
}

}  // namespace ridge
