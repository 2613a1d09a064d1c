// Work stands in the iteration that launched it, idle time in the one in which it starts; pieces outside of all are summed as
// one row without a number.
#include "analysis/findings/claim_table.h"

#include <algorithm>
#include <map>

#include "base/saturating.h"

namespace ridge {
namespace {

struct ClaimedPiece {
  std::int64_t device = 0, start_ns = 0, end_ns = 0;
  std::optional<std::int64_t> iteration;  // its number
};

ClaimedPiece piece_of(const Scope& scope, const Ledger& ledger, const ClaimPart& part) {
  const DeviceLedger& device = ledger.devices()[part.device];
  ClaimedPiece piece{.device = device.device, .iteration = {}};
  if (part.idle) {
    piece.start_ns = device.idle[part.slot].piece.start_ns;
    piece.end_ns = device.idle[part.slot].piece.end_ns;
  } else {
    piece.start_ns = device.work[part.slot].work.start_ns;
    piece.end_ns = device.work[part.slot].work.end_ns;
  }
  const Model& model = scope.model();
  const Iterations& iterations = model.iterations();
  const auto at =
      part.idle ? iterations.at(piece.start_ns)
                : iteration_of_work(scope.trace(), model.tree(), model.links(), iterations, device.work[part.slot].work.row);
  if (at) piece.iteration = iterations.list[*at].number;
  return piece;
}

Cell cell_of(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }

// Columns: what it is, its stream, the name of the work or the cause, and the event: the work, or the host slice that is
// blamed.
Row details_of(const Scope& scope, const DeviceLedger& device, const ClaimPart& part) {
  const Trace& trace = scope.trace();
  if (part.idle) {
    const IdlePiece& piece = device.idle[part.slot].piece;
    const Cell event = piece.node == kNoNode ? Cell() : Cell(std::int64_t{scope.model().tree().event[piece.node.value].value});
    return {std::string("idle"), Cell(), std::string(name_of(piece.cause)), event};
  }
  const WorkRow& work = device.work[part.slot].work;
  const EventId event = trace.of(EventClass::device_work)[work.row];
  return {std::string("work"), work.stream, std::string(trace.text(trace.events.name(event))), std::int64_t{event.value}};
}

Table pieces_table(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> parts) {
  Table table;
  table.name = "claim";
  table.columns = {{"device", Type::integer},
                   {"iteration", Type::integer},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"end_ns", Type::integer, Unit::ns, Role::time_end},
                   {"time_ns", Type::integer, Unit::ns},
                   {"kind", Type::text},
                   {"stream", Type::integer},
                   {"name", Type::text},
                   {"event", Type::integer, Unit::none, Role::event},
                   {"claim", Type::text}};
  std::int64_t sum = 0;
  for (const ClaimPart& part : parts) {
    const ClaimedPiece piece = piece_of(scope, ledger, part);
    Row row{piece.device, cell_of(piece.iteration), piece.start_ns - scope.origin_ns(), piece.end_ns - scope.origin_ns(),
            part.ns};
    for (Cell& cell : details_of(scope, ledger.devices()[part.device], part)) row.push_back(std::move(cell));
    row.push_back(std::string(part.reached ? "reached" : "taken"));
    table.add_row(row);
    saturating_add(&sum, part.ns);
  }
  Row total(table.columns.size());
  total[4] = sum;
  table.total = std::move(total);
  return table;
}

Table iterations_table(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> parts) {
  struct ClaimSum {
    std::int64_t start_ns = INT64_MAX, end_ns = INT64_MIN, pieces = 0, time_ns = 0;
  };
  std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, ClaimSum> sums;
  for (const ClaimPart& part : parts) {
    const ClaimedPiece piece = piece_of(scope, ledger, part);
    ClaimSum& sum = sums[{piece.device, piece.iteration}];
    sum.start_ns = std::min(sum.start_ns, piece.start_ns);
    sum.end_ns = std::max(sum.end_ns, piece.end_ns);
    ++sum.pieces;
    saturating_add(&sum.time_ns, part.ns);
  }
  Table table;
  table.name = "claim_iterations";
  table.columns = {{"device", Type::integer},
                   {"iteration", Type::integer},
                   {"start_ns", Type::integer, Unit::ns, Role::time_start},
                   {"end_ns", Type::integer, Unit::ns, Role::time_end},
                   {"pieces", Type::integer, Unit::count},
                   {"time_ns", Type::integer, Unit::ns}};
  for (const auto& [key, sum] : sums) {
    table.add_row({key.first, cell_of(key.second), sum.start_ns - scope.origin_ns(), sum.end_ns - scope.origin_ns(), sum.pieces,
                   sum.time_ns});
  }
  return table;
}

}  // namespace

std::vector<Table> claim_tables(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> parts) {
  std::vector<Table> tables;
  tables.push_back(pieces_table(scope, ledger, parts));
  tables.push_back(iterations_table(scope, ledger, parts));
  return tables;
}

}  // namespace ridge
