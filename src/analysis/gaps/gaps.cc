#include "analysis/gaps/gaps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "analysis/catalog.h"
#include "base/saturating.h"
#include "facts/scope_diagnostics.h"
#include "model/locations.h"

namespace ridge {
namespace {

class GapNames {
 public:
  explicit GapNames(const Model& model)
      : trace_(model.trace()), tree_(model.tree()), links_(model.links()), locations_(model.locations()) {}

  std::string kernel(std::uint32_t row) const {
    return row == kNoWork ? "" : std::string(trace_.text(trace_.events.name(trace_.of(EventClass::device_work)[row])));
  }
  std::string op(std::uint32_t row) const { return row == kNoWork ? "" : name(links_.op[row]); }

  std::string location(std::uint32_t row) const {
    const NodeId launch = row == kNoWork ? kNoNode : links_.launch[row];
    return launch == kNoNode ? "" : std::string(locations_.location(launch));
  }

  std::string blame(const IdlePiece& piece) const {
    if (piece.node == kNoNode) return "";
    const NodeId around = tree_.class_of(piece.node) == EventClass::op ? kNoNode : outer_op(trace_, tree_, piece.node);
    return around == kNoNode ? name(piece.node) : name(piece.node) + " in " + name(around);
  }

 private:
  std::string name(NodeId node) const {
    return node == kNoNode ? "" : std::string(trace_.text(trace_.events.name(tree_.event[node.value])));
  }

  const Trace& trace_;
  const CallTree& tree_;
  const LaunchLinks& links_;
  const Locations& locations_;
};

std::vector<GapPart> parts_of(const DeviceIdle& idle, const IdleGap& gap) {
  std::array<std::int64_t, kIdleCauses> by_cause{};
  for (const IdlePiece& piece : idle.pieces_of(gap)) by_cause[static_cast<std::size_t>(piece.cause)] += piece.length();
  std::vector<GapPart> parts;
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    if (by_cause[c] > 0) parts.push_back({static_cast<IdleCause>(c), by_cause[c]});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const GapPart& a, const GapPart& b) { return a.time_ns > b.time_ns; });
  return parts;
}

// "launch 62 %, sync 38 %"
std::string causes_text(const GapRow& row) {
  std::string text;
  for (const GapPart& part : row.parts) {
    const long share = std::lround(100.0 * static_cast<double>(part.time_ns) / static_cast<double>(row.duration_ns));
    text += (text.empty() ? "" : ", ") + std::string(name_of(part.cause)) + (share == 0 ? " <1" : " " + std::to_string(share)) +
            " %";
  }
  return text;
}

Cell text(const std::string& value) { return value.empty() ? Cell() : Cell(value); }

}  // namespace

Gaps compute_gaps(const Scope& scope) {
  Gaps gaps;
  gaps.no_device_events = scope.model().timeline().devices.empty();
  if (gaps.no_device_events) return gaps;
  const GapNames names(scope.model());
  for (const DeviceIdle& idle : scope.idle()) {
    if (!scope.has_device(idle.device)) continue;
    for (const IdleGap& gap : idle.gaps) {
      std::string next = names.kernel(gap.next_work);
      if (!scope.matches(next)) continue;
      const IdlePiece& piece = idle.dominant(gap);
      gaps.rows.push_back({idle.device, gap.start_ns - scope.origin_ns(), gap.length(), piece.cause, names.blame(piece),
                           names.op(gap.next_work), names.location(gap.next_work), std::move(next), parts_of(idle, gap)});
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
  table.important = {"duration_ns", "cause", "op", "location", "start_ns", "next_kernel", "blame", "causes"};
  table.columns = {{"device", Type::integer},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"duration_ns", Type::integer, Unit::ns},
                   {"cause", Type::text},
                   {"op", Type::text},
                   {"location", Type::text, Unit::none, Role::frame},
                   {"next_kernel", Type::text},
                   {"blame", Type::text},
                   {"causes", Type::text}};
  std::int64_t total = 0;
  for (const GapRow& row : gaps.rows) {
    table.rows.push_back({row.device, row.start_ns, row.duration_ns, std::string(name_of(row.cause)), text(row.op),
                          text(row.location), text(row.next_kernel), text(row.blame), text(causes_text(row))});
    saturating_add(&total, row.duration_ns);
  }
  if (!gaps.rows.empty()) table.total = Row{Cell(), Cell(), total, Cell(), Cell(), Cell(), Cell(), Cell(), Cell()};
  Report report;
  report.tables = {std::move(table)};
  if (gaps.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_gaps(const Scope& scope, const Arguments&) { return report_gaps(compute_gaps(scope)); }

}  // namespace ridge
