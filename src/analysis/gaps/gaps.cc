// Names for each gap: the op, frame and kernel that ended it; then the table. The cause is model/idle.h's.
#include "analysis/gaps/gaps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/iteration_table.h"
#include "base/saturating.h"
#include "facts/scope_diagnostics.h"
#include "model/cpu_kernels.h"
#include "model/locations.h"

namespace ridge {
namespace {

class GapNames {
 public:
  explicit GapNames(const Model& model)
      : trace_(model.trace()), tree_(model.tree()), links_(model.links()), locations_(model.locations()) {}

  std::string_view kernel(std::uint32_t row) const {
    return row == kNoWork ? "" : trace_.text(trace_.events.name(trace_.of(EventClass::device_work)[row]));
  }
  std::string_view op(std::uint32_t row) const { return row == kNoWork ? "" : name(links_.op[row]); }

  std::string_view location(std::uint32_t row) const {
    const NodeId launch = row == kNoWork ? kNoNode : links_.launch[row];
    return launch == kNoNode ? "" : locations_.location(launch);
  }

  std::string_view blame(const IdlePiece& piece) const {
    return computes(piece) ? name_cpu_kernel(trace_, tree_, piece.node).kernel : name(piece.node);
  }
  // What the blamed slice is known by: its op; of a CPU kernel the file of the module that calls it.
  std::string_view blame_op(const IdlePiece& piece) const {
    if (computes(piece)) return name_cpu_kernel(trace_, tree_, piece.node).file;
    const bool is_op = piece.node == kNoNode || tree_.class_of(piece.node) == EventClass::op;
    return is_op ? "" : name(outer_op(trace_, tree_, piece.node));
  }

 private:
  bool computes(const IdlePiece& piece) const {
    return piece.cause == IdleCause::launch && piece.node != kNoNode && is_cpu_kernel(trace_, tree_, piece.node);
  }
  std::string_view name(NodeId node) const {
    return node == kNoNode ? "" : trace_.text(trace_.events.name(tree_.event[node.value]));
  }

  const Trace& trace_;
  const CallTree& tree_;
  const LaunchLinks& links_;
  const Locations& locations_;
};

// Behind `parts`; how many.
std::uint8_t add_parts(const DeviceIdle& idle, const IdleGap& gap, std::vector<GapPart>* parts) {
  std::array<std::int64_t, kIdleCauses> by_cause{};
  for (const IdlePiece& piece : idle.pieces_of(gap)) by_cause[static_cast<std::size_t>(piece.cause)] += piece.length();
  const auto first = static_cast<std::ptrdiff_t>(parts->size());
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    if (by_cause[c] > 0) parts->push_back({static_cast<IdleCause>(c), by_cause[c]});
  }
  std::stable_sort(parts->begin() + first, parts->end(),
                   [](const GapPart& a, const GapPart& b) { return a.time_ns > b.time_ns; });
  return static_cast<std::uint8_t>(parts->end() - parts->begin() - first);
}

// "launch 62 %, sync 38 %"
std::string causes_text(const Gaps& gaps, const GapRow& row) {
  std::string text;
  for (const GapPart& part : gaps.parts_of(row)) {
    const long share = std::lround(100.0 * static_cast<double>(part.time_ns) / static_cast<double>(row.duration_ns));
    text += (text.empty() ? "" : ", ") + std::string(name_of(part.cause)) + (share == 0 ? " <1" : " " + std::to_string(share)) +
            " %";
  }
  return text;
}

// "cudaStreamSynchronize in aten::item"
std::string blame_text(const GapRow& row) {
  std::string text(row.blame);
  if (!row.blame_op.empty()) text += " in " + std::string(row.blame_op);
  return text;
}

}  // namespace

Gaps compute_gaps(const Scope& scope) {
  Gaps gaps;
  gaps.no_device_events = scope.model().timeline().devices.empty();
  if (gaps.no_device_events) return gaps;
  gaps.time = iteration_time(scope);
  const GapNames names(scope.model());
  const auto all = scope.idle();
  for (const DeviceIdle& idle : *all) {
    if (!scope.has_device(idle.device)) continue;
    for (const IdleGap& gap : idle.gaps) {
      const std::string_view next = names.kernel(gap.next_work);
      if (!scope.matches(next)) continue;
      const IdlePiece& piece = idle.dominant(gap);
      const auto first_part = static_cast<std::uint32_t>(gaps.parts.size());
      gaps.rows.push_back({.device = idle.device,
                           .start_ns = gap.start_ns - scope.origin_ns(),
                           .duration_ns = gap.length(),
                           .cause = piece.cause,
                           .part_count = add_parts(idle, gap, &gaps.parts),
                           .first_part = first_part,
                           .blame = names.blame(piece),
                           .blame_op = names.blame_op(piece),
                           .op = names.op(gap.next_work),
                           .location = names.location(gap.next_work),
                           .next_kernel = next});
    }
  }
  std::sort(gaps.rows.begin(), gaps.rows.end(), [](const GapRow& a, const GapRow& b) {
    return std::tuple(-a.duration_ns, a.device, a.start_ns) < std::tuple(-b.duration_ns, b.device, b.start_ns);
  });
  return gaps;
}

Report report_gaps(const Gaps& gaps) {
  Table table;
  table.name = "gaps";
  table.hints.important = {"duration_ns", "cause", "op", "location", "start_ns", "blame", "next_kernel", "causes"};
  table.columns = {{"device", Type::integer},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"duration_ns", Type::integer, Unit::ns},
                   {"cause", Type::text},
                   {"op", Type::text},
                   {"location", Type::text, Unit::none, Role::frame},
                   {"next_kernel", Type::text},
                   {"blame", Type::text},
                   {"causes", Type::text}};
  table.reserve(gaps.rows.size());
  std::int64_t total = 0;
  for (const GapRow& row : gaps.rows) {
    table.add_row({row.device, row.start_ns, row.duration_ns, std::string(name_of(row.cause)), cells::text(row.op),
                   cells::text(row.location), cells::text(row.next_kernel), cells::text(blame_text(row)),
                   cells::text(causes_text(gaps, row))});
    saturating_add(&total, row.duration_ns);
  }
  if (!gaps.rows.empty()) table.total = Row{Cell(), Cell(), total, Cell(), Cell(), Cell(), Cell(), Cell(), Cell()};
  Report report;
  report.tables.push_back(std::move(table));
  if (!gaps.no_device_events) report.tables.push_back(iteration_table(gaps.time));
  if (gaps.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_gaps(const Scope& scope, const Arguments&) { return report_gaps(compute_gaps(scope)); }

}  // namespace ridge
