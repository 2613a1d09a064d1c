// Reads the arguments of each collective from where the trace has them, then sums and measures; the tables are here too.
#include "analysis/collectives/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "facts/scoped_work.h"
#include "ops/op_call.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// As collectives spell element types; of several names for one type the first is shown.
struct ElementType {
  std::string_view name;
  DType dtype;
};
constexpr ElementType kElementTypes[] = {
    {"Float", DType::f32},      {"Double", DType::f64},       {"Half", DType::f16},           {"BFloat16", DType::bf16},
    {"Byte", DType::u8},        {"Char", DType::i8},          {"Short", DType::i16},          {"Int", DType::i32},
    {"Long", DType::i64},       {"Bool", DType::boolean},     {"Float8", DType::f8},          {"Float8_e4m3fn", DType::f8},
    {"Float8_e5m2", DType::f8}, {"ComplexFloat", DType::c64}, {"ComplexDouble", DType::c128},
};

std::optional<std::int64_t> element_bytes(std::string_view name) {
  const auto* row = std::ranges::find(kElementTypes, name, &ElementType::name);
  return row == std::end(kElementTypes) ? std::nullopt : std::optional(static_cast<std::int64_t>(item_bytes(row->dtype)));
}

std::string spelling_of(DType dtype) {
  const auto* row = std::ranges::find(kElementTypes, dtype, &ElementType::dtype);
  return std::string(row == std::end(kElementTypes) ? name_of(dtype) : row->name);
}

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

// What the call of a collective says of its tensors, where the profiler recorded shapes: PyTorch before 2.1 writes no more.
struct TensorBytes {
  std::optional<std::int64_t> largest;  // of an argument; a list counts as a whole
  DType dtype = DType::unknown;
};

TensorBytes tensor_bytes(const OpCall& call, DType of_lists) {
  TensorBytes found;
  for (const OpArgument& argument : call.arguments) {
    std::vector<TensorShape> tensors = argument.list;
    if (argument.kind == OpArgument::Kind::tensor) tensors = {argument.tensor};
    double bytes = 0;
    for (const TensorShape& tensor : tensors) {
      const DType dtype = tensor.dtype == DType::unknown ? of_lists : tensor.dtype;
      if (dtype == DType::unknown) return {};
      bytes += numel(tensor) * item_bytes(dtype);
      if (found.dtype == DType::unknown) found.dtype = dtype;
    }
    if (tensors.empty() || bytes > 1e18) continue;
    found.largest = std::max(found.largest.value_or(0), static_cast<std::int64_t>(bytes));
  }
  return found;
}

struct CollectiveArgs {
  std::string name, group, dtype;
  std::optional<std::int64_t> ranks, bytes;
  bool sized = false;  // its call says how many bytes: they are with the call's first kernel, its time is with all
};

// The events that tell of a collective's call, innermost first; kNoEvent where there is none.
struct CallEvents {
  EventId comms = kNoEvent;       // with the collective's arguments: the kernel itself, or record_param_comms
  EventId annotation = kNoEvent;  // nccl:all_reduce
  EventId call = kNoEvent;        // c10d::allreduce_
};

class ArgsReader {
 public:
  explicit ArgsReader(const Model& model) : model_(model), table_(collectives(model.trace())), ops_(ops(model.trace())) {}

  // From the kernel itself, else from what stands around its launch.
  CollectiveArgs read(const WorkRow& work) {
    const EventId event = model_.trace().of(EventClass::device_work)[work.row];
    const CallEvents events = events_of(work, event);
    const EventId source = events.comms == kNoEvent ? event : events.comms;
    CollectiveArgs args;
    args.name = text(table_.name, source);
    if (args.name.empty())
      args.name = events.annotation == kNoEvent ? model_.identities()[work.row].label
                                                : std::string(name_of_event(events.annotation).substr(kNccl.size()));
    args.group = text(table_.group_description, source);
    if (args.group.empty() || args.group == "undefined") args.group = text(table_.group_name, source);
    args.dtype = text(table_.dtype, source);
    args.ranks = table_.group_size.integer(source);
    const auto in = table_.in_elements.integer(source), out = table_.out_elements.integer(source);
    const auto size = element_bytes(args.dtype);
    if (size && (in || out)) {
      add_bytes(std::max(in.value_or(0), out.value_or(0)) * *size, source, source == event, &args);
    } else {
      read_tensors(events, &args);
    }
    return args;
  }

 private:
  static constexpr std::string_view kNccl = "nccl:", kC10d = "c10d::";

  CallEvents events_of(const WorkRow& work, EventId event) const {
    CallEvents events;
    if (table_.name.text(event)) events.comms = event;
    constexpr int kMostLevels = 256;  // they stand right around the launch
    NodeId n = model_.links().launch[work.row];
    for (int levels = 0; n != kNoNode && levels < kMostLevels; n = model_.tree().parent[n.value], ++levels) {
      const EventId around = model_.tree().event[n.value];
      const EventClass c = model_.tree().class_of(n);
      const std::string_view name = name_of_event(around);
      if (events.comms == kNoEvent && table_.name.text(around)) events.comms = around;
      if (c == EventClass::annotation && events.annotation == kNoEvent && name.starts_with(kNccl)) events.annotation = around;
      if (c != EventClass::op || !name.starts_with(kC10d)) continue;
      events.call = around;
      break;
    }
    return events;
  }

  // Shapes of the call: both what is given and what is got. The annotation has what is given, and the type of lists.
  void read_tensors(const CallEvents& events, CollectiveArgs* args) {
    const TensorBytes given = events.annotation == kNoEvent ? TensorBytes() : tensors_of(events.annotation, DType::unknown);
    const TensorBytes all = events.call == kNoEvent ? TensorBytes() : tensors_of(events.call, given.dtype);
    const DType dtype = all.dtype == DType::unknown ? given.dtype : all.dtype;
    if (args->dtype.empty()) args->dtype = spelling_of(dtype);
    // Of a gather a rank gets more than it gives, of a scatter the root gives more.
    const std::string plain = without_underscores(args->name);
    const bool as_given =
        plain.find("gather") == plain.npos && (plain.find("scatter") == plain.npos || plain.starts_with("reduce"));
    if (all.largest) {
      add_bytes(std::max(*all.largest, given.largest.value_or(0)), events.call, false, args);
    } else if (given.largest && as_given) {
      add_bytes(*given.largest, events.annotation, false, args);
    }
  }

  TensorBytes tensors_of(EventId event, DType of_lists) const {
    return tensor_bytes(parse_op_call(name_of_event(event), text(ops_.input_dims, event), text(ops_.input_type, event), {}, {}),
                        of_lists);
  }

  // Several kernels of one call: its bytes count once.
  void add_bytes(std::int64_t bytes, EventId source, bool of_kernel, CollectiveArgs* args) {
    args->sized = true;
    if (of_kernel || seen_.insert(source.value).second) args->bytes = bytes;
  }

  std::string_view name_of_event(EventId event) const { return model_.trace().text(model_.trace().events.name(event)); }
  std::string text(const ArgColumn& column, EventId event) const {
    const auto id = column.text(event);
    return id ? std::string(model_.trace().text(*id)) : std::string();
  }

  const Model& model_;
  CollectiveTable table_;
  OpTable ops_;
  std::unordered_set<std::uint32_t> seen_;
};

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
  for (const EventId event : trace.of(EventClass::annotation)) {
    const std::string_view name = trace.text(trace.events.name(event));
    if (!name.starts_with("gloo:") && !name.starts_with("mpi:")) continue;
    const NodeId node = scope.model().node_of()[event];
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
  ArgsReader reader(scope.model());
  std::map<std::tuple<std::string, std::string, std::int64_t, std::string>, CollectiveRow> rows;
  std::unordered_map<std::int64_t, IntervalSet> compute;  // by device
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (work.sort != WorkSort::comm) return;
    CollectiveArgs args = reader.read(work);
    if (!scope.matches(args.name)) return;
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
    if (args.bytes) row.bytes = row.bytes.value_or(0) + *args.bytes;
    if (args.sized) saturating_add(&row.sized_ns, duration_ns(work));
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
