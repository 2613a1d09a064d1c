// Direction and pinned come from the event's name, by a table of spellings.
#include "analysis/copies/copies.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

struct DirectionRow {
  std::string_view text;  // in the name
  std::string_view direction;
};
constexpr DirectionRow kDirections[] = {
    {"HtoD", "HtoD"},       {"DtoH", "DtoH"},         {"DtoD", "DtoD"},         {"PtoP", "PtoP"},
    {"HtoH", "HtoH"},       {"HostToDevice", "HtoD"}, {"DeviceToHost", "DtoH"}, {"DeviceToDevice", "DtoD"},
    {"PeerToPeer", "PtoP"}, {"HostToHost", "HtoH"},   {"M2D", "HtoD"},          {"D2M", "DtoH"},
    {"D2D", "DtoD"},
};

Cell rate(const CopyRow& row) {
  return row.timed_ns > 0 ? Cell(static_cast<double>(row.timed_bytes) * 1e9 / static_cast<double>(row.timed_ns)) : Cell();
}

// Bytes over time is then not the rate that stands beside them.
Diagnostic bytes_partly_known(const CopyRow& sum) {
  return {"bytes_partly_known", 1,
          fmt::format("the trace does not tell the bytes of {} of {} copies and sets: bytes and rates are of the others",
                      sum.without_bytes, sum.count)};
}

}  // namespace

CopyKind copy_kind(std::string_view name, DeviceWork work) {
  CopyKind kind;
  if (work == DeviceWork::set) {
    kind.direction = "set";
    return kind;
  }
  kind.direction = name;
  for (const DirectionRow& row : kDirections) {
    if (name.find(row.text) == name.npos) continue;
    kind.direction = row.direction;
    break;
  }
  if (name.find("Pinned") != name.npos) kind.pinned = true;
  if (name.find("Pageable") != name.npos) kind.pinned = false;
  return kind;
}

Copies compute_copies(const Scope& scope) {
  const Trace& trace = scope.trace();
  const DeviceWorkTable table = device_work(trace);
  std::map<std::pair<CopyKind, std::int64_t>, CopyRow> rows;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (work.sort != WorkSort::copy && work.sort != WorkSort::set) return;
    const EventId event = table.events[work.row];
    const std::string_view name = trace.text(trace.events.name(event));
    if (!scope.matches(name)) return;
    CopyKind kind = copy_kind(name, work_of(trace, event));
    auto bytes = table.bytes.integer(event);
    if (trace.kind(event).work == DeviceWork::other) {
      const VendorCopy copy = vendor_copy(trace, event);
      bytes = copy.bytes;
      if (!copy.direction.empty()) kind.direction = copy.direction;
    }
    CopyRow& row = rows[{kind, device.id}];
    row.kind = std::move(kind);
    row.device = device.id;
    ++row.count;
    saturating_add(&row.time_ns, duration_ns(work));
    if (!bytes || *bytes < 0) {
      ++row.without_bytes;
      return;
    }
    if (!row.bytes) row.bytes = 0;
    saturating_add(&*row.bytes, *bytes);
    if (duration_ns(work) <= 0) return;
    saturating_add(&row.timed_bytes, *bytes);
    saturating_add(&row.timed_ns, duration_ns(work));
  });
  Copies out;
  out.no_device_events = trace.of(EventClass::device_work).empty();
  for (auto& [key, row] : rows) out.rows.push_back(std::move(row));
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const CopyRow& a, const CopyRow& b) { return a.time_ns > b.time_ns; });
  return out;
}

Report report_copies(const Copies& copies) {
  Table table;
  table.name = "copies";
  table.columns = {{"direction", Type::text},
                   {"pinned", Type::boolean},
                   {"device", Type::integer},
                   {"count", Type::integer, Unit::count},
                   {"bytes", Type::integer, Unit::bytes},
                   {"time_ns", Type::integer, Unit::ns},
                   {"bytes_per_s", Type::number, Unit::bytes_per_s}};
  CopyRow sum;
  for (const CopyRow& row : copies.rows) {
    table.add_row({row.kind.direction, cells::boolean(row.kind.pinned), row.device, row.count, cells::integer(row.bytes),
                   row.time_ns, rate(row)});
    sum.count += row.count;
    sum.without_bytes += row.without_bytes;
    saturating_add(&sum.time_ns, row.time_ns);
    saturating_add(&sum.timed_bytes, row.timed_bytes);
    saturating_add(&sum.timed_ns, row.timed_ns);
    if (!row.bytes) continue;
    if (!sum.bytes) sum.bytes = 0;
    saturating_add(&*sum.bytes, *row.bytes);
  }
  Row total(3);
  total.emplace_back(sum.count);
  total.push_back(cells::integer(sum.bytes));
  total.emplace_back(sum.time_ns);
  total.push_back(rate(sum));
  table.total = std::move(total);
  Report report;
  report.tables.push_back(std::move(table));
  if (sum.bytes && sum.without_bytes > 0) report.diagnostics.push_back(bytes_partly_known(sum));
  if (copies.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_copies(const Scope& scope, const Arguments&) { return report_copies(compute_copies(scope)); }

}  // namespace ridge
