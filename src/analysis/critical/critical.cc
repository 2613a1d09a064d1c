// Pieces of the path by what people know them by. Host time is split by the ops in it; sums per step are rounded so that they
// add up to it.
#include "analysis/critical/critical.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/catalog.h"
#include "analysis/findings/savings.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/choice.h"
#include "base/try.h"
#include "base/units.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"
#include "model/idle.h"
#include "predict/host_slices.h"
#include "predict/what_if.h"

namespace ridge {
namespace {

constexpr std::string_view kCriticalBy[] = {"name", "op", "location"};

constexpr std::string_view kUnknownPlace = "[no location]", kOwnWork = "[outside of ops]",
                           kBetweenWork = "[between two kernels]", kOtherStream = "[another stream]",
                           kOthers = "[another stream or process]", kOtherThread = "[another thread]",
                           kNotTold = "[before the trace tells]";

class PathNames {
 public:
  PathNames(const Model& model, const StepGraph& graph, CriticalBy by)
      : model_(model), trace_(model.trace()), tree_(model.tree()), graph_(graph), by_(by) {}

  // Calls f(name, share of the piece's time) for the parts of a piece; shares add up to its length.
  template <class F>
  void split(const PathPiece& piece, F f) const {
    const std::int64_t length = piece.time.length();
    if (piece.node == StepGraph::kNone) return f(kNotTold, length);
    if (graph_.is_device(piece.node)) return f(of_work(piece), length);
    if (piece.sort != PathSort::host) return f(of_call(piece), length);
    // Of a host node the ops in it, each with its share.
    const std::int64_t start = graph_.start_ns[piece.node], end = graph_.recorded_end_ns(piece.node);
    std::int64_t left = length;
    std::string_view last;
    for_each_slice(tree_, tree_.threads[graph_.lane_of(piece.node).thread], {start, end}, [&](NodeId inside, std::int64_t ns) {
      const double share = static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, end - start));
      const std::int64_t part = std::min(left, static_cast<std::int64_t>(share * static_cast<double>(length)));
      last = of_slice(inside);
      left -= part;
      if (part > 0) f(last, part);
    });
    if (left > 0) f(last.empty() ? kOwnWork : last, left);
  }

 private:
  std::string_view name(NodeId node) const { return trace_.text(trace_.events.name(tree_.event[node.value])); }

  std::string_view of_slice(NodeId node) const {
    if (node == kNoNode) return by_ == CriticalBy::location ? kUnknownPlace : kOwnWork;
    if (by_ == CriticalBy::location) {
      const std::string_view place = model_.locations().location(node);
      return place.empty() ? kUnknownPlace : place;
    }
    if (const NodeId op = outer_op(trace_, tree_, node); op != kNoNode) return name(op);
    if (tree_.class_of(node) == EventClass::launch) return name(node);
    constexpr int kMostLevels = 64;
    NodeId around = node;
    for (int level = 0; level < kMostLevels && around != kNoNode; ++level, around = tree_.parent[around.value]) {
      if (tree_.class_of(around) == EventClass::annotation && !name(around).starts_with("ProfilerStep#")) return name(around);
    }
    return kOwnWork;
  }

  std::string_view of_call(const PathPiece& piece) const {
    const std::uint32_t call = graph_.source[piece.node];
    if (call == StepGraph::kNone) return kOtherThread;
    return by_ == CriticalBy::name ? name(NodeId{call}) : of_slice(NodeId{call});
  }

  std::string_view of_work(const PathPiece& piece) const {
    const std::uint32_t row = graph_.source[piece.node];
    if (piece.pause && piece.sort == PathSort::wait) {
      if (piece.edge == StepGraph::kNone) return kBetweenWork;
      return graph_.kind[graph_.edge_from[piece.edge]] == StepKind::launch ? kOthers : kOtherStream;
    }
    if (by_ == CriticalBy::op) return op_name(model_, row);
    const NodeId call = caller_of(model_, row);
    if (by_ == CriticalBy::location) {
      const std::string_view place = call == kNoNode ? "" : model_.locations().location(call);
      return place.empty() ? kUnknownPlace : place;
    }
    if (piece.pause) return name(NodeId{graph_.source[graph_.edge_from[piece.edge]]});
    return trace_.text(trace_.events.name(trace_.of(EventClass::device_work)[row]));
  }

  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const StepGraph& graph_;
  CriticalBy by_;
};

std::vector<CriticalRow> sum_up(const std::vector<PathPiece>& path, const PathNames& names) {
  std::map<std::pair<PathSort, std::string_view>, CriticalRow> sums;
  for (const PathPiece& piece : path) {
    names.split(piece, [&](std::string_view name, std::int64_t ns) {
      CriticalRow& row = sums[{piece.sort, name}];
      ++row.count;
      row.total_ns += ns;
    });
  }
  std::vector<CriticalRow> rows;
  for (auto& [key, row] : sums) {
    row.sort = key.first;
    row.name = key.second;
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const CriticalRow& a, const CriticalRow& b) {
    return std::tuple(-a.total_ns, a.sort, a.name) < std::tuple(-b.total_ns, b.sort, b.name);
  });
  return rows;
}

// Times of a step: rounded down, and what is missing of the whole given to those that lost most.
void divide(std::int64_t iterations, std::int64_t step_ns, std::vector<CriticalRow>* rows) {
  std::int64_t left = step_ns;
  std::vector<std::size_t> order(rows->size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (CriticalRow& row : *rows) left -= row.time_ns = row.total_ns / iterations;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return (*rows)[a].total_ns % iterations > (*rows)[b].total_ns % iterations;
  });
  for (std::size_t i = 0; left > 0 && i < order.size(); ++i, --left) ++(*rows)[order[i]].time_ns;
}

CriticalNear describe(const NearPath& near, const PathNames& names, std::int64_t iterations) {
  CriticalNear out{.time_ns = near.length_ns / iterations};
  if (near.length_ns > 0) out.shared_pct = 100 * static_cast<double>(near.shared_ns) / static_cast<double>(near.length_ns);
  for (const PathPiece& piece : near.pieces) out.by_sort[static_cast<std::size_t>(piece.sort)] += piece.time.length();
  std::int64_t left = out.time_ns;
  for (std::int64_t& ns : out.by_sort) left -= ns /= iterations;
  *std::max_element(out.by_sort.begin(), out.by_sort.end()) += left;  // what rounding down each took
  const std::vector<CriticalRow> rows = sum_up(near.pieces, names);
  for (std::size_t i = 0; i < rows.size() && i < 3; ++i)
    out.mostly += fmt::format("{}{} {}", i == 0 ? "" : ", ", name_of(rows[i].sort), rows[i].name);
  return out;
}

Table critical_table(const Critical& critical) {
  Table table;
  table.name = "critical";
  table.chart = Chart::bars;
  table.columns = {{"kind", Type::text},
                   {"name", Type::text},
                   {"count", Type::number, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_step", Type::number, Unit::percent}};
  table.hints.important = {"time_ns", "pct_step", "kind", "name", "count"};
  for (const CriticalRow& row : critical.rows)
    table.add_row({std::string(name_of(row.sort)), row.name,
                   static_cast<double>(row.count) / static_cast<double>(critical.iterations), row.time_ns,
                   cells::percent(row.time_ns, critical.step_ns)});
  if (critical.rows.empty()) return table;
  std::int64_t listed_ns = 0;
  for (const CriticalRow& row : critical.rows) listed_ns += row.time_ns;
  table.total = Row{Cell(), Cell(), Cell(), listed_ns, cells::percent(listed_ns, critical.step_ns)};
  return table;
}

Table near_table(const Critical& critical) {
  Table table;
  table.name = "near";
  table.columns = {{"path", Type::integer},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_step", Type::number, Unit::percent},
                   {"shared_pct", Type::number, Unit::percent}};
  for (std::size_t sort = 0; sort < kPathSorts; ++sort)
    table.columns.push_back({std::string(name_of(static_cast<PathSort>(sort))) + "_ns", Type::integer, Unit::ns});
  table.columns.push_back({"mostly", Type::text});
  for (std::size_t i = 0; i < critical.near.size(); ++i) {
    const CriticalNear& near = critical.near[i];
    Row row{static_cast<std::int64_t>(i + 1), near.time_ns, cells::percent(near.time_ns, critical.step_ns), near.shared_pct};
    for (const std::int64_t ns : near.by_sort) row.emplace_back(ns);
    row.emplace_back(near.mostly);
    table.add_row(row);
  }
  return table;
}

}  // namespace

Critical compute_critical(const Scope& whole, CriticalBy by, bool without_profiler, std::optional<std::int64_t> measured_ns) {
  Critical out{.without_profiler = without_profiler};
  const Scope scope = whole.of_whole_iterations();
  out.no_device_events = scope.model().timeline().devices.empty();
  const WhatIf what_if(scope, without_profiler ? WhatIf::From::without_profiler : WhatIf::From::recorded, measured_ns);
  out.why_not = what_if.why_not();
  if (!out.why_not.empty()) return out;
  const StepLength& length = what_if.length();
  const StepCourse course = what_if.course(what_if.base());
  const std::vector<PathPiece> path = critical_path(what_if.graph(), what_if.base(), course.replayed, course.spans);
  const PathNames names(scope.model(), what_if.graph(), by);
  out.step_ns = length.per_iteration(course.spans.length());
  out.iterations = length.iterations();
  out.rows = sum_up(path, names);
  divide(out.iterations, out.step_ns, &out.rows);
  for (const NearPath& near : near_paths(what_if, course, path)) out.near.push_back(describe(near, names, out.iterations));
  return out;
}

Report report_critical(const Critical& critical) {
  Report report;
  report.tables.push_back(critical_table(critical));
  report.tables.push_back(near_table(critical));
  if (critical.no_device_events) report.diagnostics.push_back(no_device_events());
  if (!critical.why_not.empty()) {
    report.diagnostics.push_back({"no_step", 1, critical.why_not});
  } else {
    report.headline = fmt::format("what a step of {} is made of{}", format_duration(static_cast<double>(critical.step_ns)),
                                  critical.without_profiler ? ", without the profiler" : "");
  }
  return report;
}

std::span<const std::string_view> critical_by_names() { return kCriticalBy; }

Result<Report> run_critical(const Scope& scope, const Arguments& arguments) {
  TRY(const std::optional<std::size_t> by, choice(arguments, "by", critical_by_names()));
  TRY(const std::optional<std::int64_t> measured, measured_step(arguments));
  // Who gives what a step takes without the profiler asks about that step.
  Critical critical = compute_critical(scope, static_cast<CriticalBy>(by.value_or(0)),
                                       arguments.contains("without_profiler") || measured, measured);
  std::erase_if(critical.rows, [&](const CriticalRow& row) { return !scope.matches(row.name); });
  return report_critical(critical);
}

}  // namespace ridge
