// Sums what is said of each collective, and measures; the tables are here too.
#include "analysis/collectives/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "facts/scoped_work.h"
#include "model/collective_args.h"

namespace ridge {
namespace {

// Factors of https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md, by the collective's name without underscores.
struct BusRule {
  std::string_view name;  // how it begins
  double scale;           // factor = scale * (n - 1) / n; 0: factor 1
};
constexpr BusRule kBusRules[] = {
    {"allreduce", 2}, {"allgather", 1}, {"reducescatter", 1}, {"alltoall", 1}, {"broadcast", 0},
    {"reduce", 0},    {"send", 0},      {"recv", 0},          {"gather", 1},   {"scatter", 1},
};

std::string without_underscores(std::string_view name) {
  std::string out(name);
  std::erase(out, '_');
  return out;
}

// Collectives without a process group (symm_mem::multimem_all_reduce_, a server's own): what the op's formula says of them.
std::optional<std::int64_t> moved_bytes(const LaunchCost& cost) {
  if (!cost.bytes_read && !cost.bytes_written) return std::nullopt;
  const double bytes = std::max(cost.bytes_read.value_or(0), cost.bytes_written.value_or(0));
  return bytes < 1e18 ? std::optional(static_cast<std::int64_t>(bytes)) : std::nullopt;
}

// How much of [start, end) a set covers.
std::int64_t covered(const IntervalSet& set, std::int64_t start, std::int64_t end) {
  const auto intervals = set.intervals();
  auto it = std::upper_bound(intervals.begin(), intervals.end(), start,
                             [](std::int64_t t, const Interval& i) { return t < i.end_ns; });
  std::int64_t sum = 0;
  for (; it != intervals.end() && it->start_ns < end; ++it)
    saturating_add(&sum, std::min(end, it->end_ns) - std::max(start, it->start_ns));
  return sum;
}

std::vector<HostCollectiveRow> host_collectives(const Scope& scope) {
  const Trace& trace = scope.trace();
  std::map<std::string_view, HostCollectiveRow> rows;
  std::shared_ptr<const NodeOfEvent> node_of;  // asked for where there is such an annotation
  for (const EventId event : trace.of(EventClass::annotation)) {
    const std::string_view name = trace.text(trace.events.name(event));
    if (!name.starts_with("gloo:") && !name.starts_with("mpi:")) continue;
    if (node_of == nullptr) node_of = scope.model().node_of();
    const NodeId node = (*node_of)[event];
    if (node == kNoNode || !scope.holds(node) || !scope.matches(name)) continue;
    HostCollectiveRow& row = rows[name];
    row.name = name;
    ++row.count;
    saturating_add(&row.cpu_ns, scope.model().tree().duration_ns(node));
  }
  std::vector<HostCollectiveRow> out;
  for (auto& [name, row] : rows) out.push_back(std::move(row));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.cpu_ns > b.cpu_ns; });
  return out;
}

Cell algbw(const CollectiveRow& row) {
  return row.bytes && row.sized_ns > 0 ? Cell(static_cast<double>(*row.bytes) * 1e9 / static_cast<double>(row.sized_ns))
                                       : Cell();
}

Cell busbw(const CollectiveRow& row) {
  const Cell algorithm = algbw(row);
  const auto factor = row.ranks ? bus_factor(row.name, *row.ranks) : std::nullopt;
  return factor && std::holds_alternative<double>(algorithm) ? Cell(std::get<double>(algorithm) * *factor) : Cell();
}

}  // namespace

std::optional<double> bus_factor(std::string_view name, std::int64_t ranks) {
  if (ranks < 1) return std::nullopt;
  const std::string plain = without_underscores(name);
  for (const BusRule& rule : kBusRules) {
    if (!plain.starts_with(rule.name)) continue;
    const double n = static_cast<double>(ranks);
    return rule.scale == 0 ? 1.0 : rule.scale * (n - 1) / n;
  }
  return std::nullopt;
}

Collectives compute_collectives(const Scope& scope) {
  CollectiveReader reader(scope.model());
  std::map<std::tuple<std::string, std::string, std::int64_t, std::string>, CollectiveRow> rows;
  std::unordered_map<std::int64_t, IntervalSet> compute;  // by device
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (work.sort != WorkSort::comm) return;
    CollectiveArgs args = reader.read(work.row);
    if (!scope.matches(args.name)) return;
    const auto bytes = args.bytes() ? args.bytes() : moved_bytes(scope.costs()[work.row]);
    const auto [computing, is_new] = compute.try_emplace(device.id);
    if (is_new) computing->second = busy_time(device, {INT64_MIN, INT64_MAX}, bit_of(WorkSort::compute));
    CollectiveRow& row = rows[{args.name, args.group, args.ranks.value_or(-1), args.dtype}];
    row.name = std::move(args.name);
    row.group = std::move(args.group);
    row.dtype = std::move(args.dtype);
    row.ranks = args.ranks;
    ++row.count;
    saturating_add(&row.time_ns, duration_ns(work));
    saturating_add(&row.exposed_ns, duration_ns(work) - covered(computing->second, work.start_ns, work.end_ns));
    if (!bytes) return;
    if (!row.bytes) row.bytes = 0;
    saturating_add(&*row.bytes, *bytes);
    saturating_add(&row.sized_ns, duration_ns(work));
  });
  Collectives out;
  for (auto& [key, row] : rows) out.rows.push_back(std::move(row));
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  out.host = host_collectives(scope);
  return out;
}

Report report_collectives(const Collectives& found) {
  Table table;
  table.name = "collectives";
  table.hints.important = {"name", "exposed_ns", "time_ns", "busbw", "bytes", "count", "ranks", "dtype"};
  table.columns = {{"name", Type::text},
                   {"group", Type::text},
                   {"ranks", Type::integer, Unit::count},
                   {"dtype", Type::text},
                   {"bytes", Type::integer, Unit::bytes},
                   {"count", Type::integer, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"exposed_ns", Type::integer, Unit::ns},
                   {"algbw", Type::number, Unit::bytes_per_s},
                   {"busbw", Type::number, Unit::bytes_per_s}};
  std::int64_t count = 0, time = 0, exposed = 0;
  for (const CollectiveRow& row : found.rows) {
    table.add_row({row.name, cells::text(row.group), cells::integer(row.ranks), cells::text(row.dtype),
                   cells::integer(row.bytes), row.count, row.time_ns, row.exposed_ns, algbw(row), busbw(row)});
    count += row.count;
    saturating_add(&time, row.time_ns);
    saturating_add(&exposed, row.exposed_ns);
  }
  table.total = Row{Cell(), Cell(), Cell(), Cell(), Cell(), count, time, exposed, Cell(), Cell()};
  Report report;
  report.tables.push_back(std::move(table));
  if (!found.host.empty()) {
    Table host;
    host.name = "host_collectives";
    host.columns = {{"name", Type::text}, {"count", Type::integer, Unit::count}, {"cpu_ns", Type::integer, Unit::ns}};
    for (const HostCollectiveRow& row : found.host) host.add_row({row.name, row.count, row.cpu_ns});
    report.tables.push_back(std::move(host));
  }
  if (found.rows.empty()) {
    report.diagnostics.push_back({"no_collectives", 1,
                                  found.host.empty() ? "the trace has no communication"
                                                     : "the trace has no communication on a device, only on the host"});
  }
  return report;
}

Result<Report> run_collectives(const Scope& scope, const Arguments&) { return report_collectives(compute_collectives(scope)); }

}  // namespace ridge
