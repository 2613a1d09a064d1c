// Device rows of one device with their launches, collectives told by name; collectives of the host by their annotations.
#include "job/rank_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/sort_runs.h"
#include "kernel_names/kernel_description.h"
#include "model/name_flags.h"
#include "ops/op_call.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

// Which names are those of collectives, each asked once: a trace has many more texts than kernels.
class CollectiveKernels {
 public:
  explicit CollectiveKernels(const Trace& trace) : trace_(trace), known_(trace.strings.size(), kNotAsked) {}

  bool holds(EventId kernel) {
    const StringId name = trace_.events.name(kernel);
    std::uint8_t& known = known_[name.value];
    if (known == kNotAsked) known = describe_kernel(trace_.text(name)).category == Category::comm ? kYes : kNo;
    return known == kYes;
  }

 private:
  static constexpr std::uint8_t kNotAsked = 0, kYes = 1, kNo = 2;
  const Trace& trace_;
  std::vector<std::uint8_t> known_;
};

bool is_host_collective(std::string_view name) { return name.starts_with("gloo:") || name.starts_with("mpi:"); }

std::int64_t device_number(const Trace& trace, const DeviceWorkTable& table, EventId event) {
  if (const auto named = table.device.integer(event)) return *named;
  const TrackPart& pid = trace.forms.track(trace.track(event)).pid;
  return pid.type == TrackPart::Type::integer ? pid.value : 0;
}

// The device that the rank computes on.
std::optional<std::int64_t> main_device(const Trace& trace, const DeviceWorkTable& table, CollectiveKernels* communicates) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> counts;  // collectives, work
  std::pair<std::int64_t, std::int64_t>* last = nullptr;
  std::int64_t last_device = 0;
  for (const EventId event : table.events) {
    const std::int64_t device = device_number(trace, table, event);
    if (last == nullptr || device != last_device) last = &counts[device], last_device = device;
    ++last->second;
    if (communicates->holds(event)) ++last->first;
  }
  std::optional<std::int64_t> best;
  for (const auto& [device, count] : counts) {
    if (!best || count > counts[*best]) best = device;
  }
  return best;
}

// What a collective of the host says of itself: its name and the tensors that it is given.
RankCollective host_collective(const Trace& trace, const OpTable& table, EventId event, std::string_view name) {
  RankCollective found;
  found.on_host = true;
  found.start_ns = trace.events.ts_ns(event);
  found.end_ns = found.start_ns + trace.events.dur_ns(event).value_or(0);
  found.args.name = name.substr(name.find(':') + 1);
  const auto text = [&](const ArgColumn& column) {
    const auto id = column.text(event);
    return id ? std::string(trace.text(*id)) : std::string();
  };
  const OpCall call = parse_op_call(name, text(table.input_dims), text(table.input_type), {}, {});
  double bytes = 0;
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind != OpArgument::Kind::tensor || argument.tensor.dtype == DType::unknown) continue;
    bytes += numel(argument.tensor) * item_bytes(argument.tensor.dtype);
    if (found.args.dtype.empty()) found.args.dtype = name_of(argument.tensor.dtype);
  }
  if (bytes > 0 && bytes < 1e18) found.args.given_bytes = static_cast<std::int64_t>(bytes);
  return found;
}

// Waits of the threads that issue work, joined.
std::vector<RankStall> stalls_of(const Model& model, const std::vector<bool>& issues) {
  std::vector<RankStall> all;
  const HostStalls& stalls = model.host_stalls();
  for (std::size_t t = 0; t < stalls.of_thread.size(); ++t) {
    if (!issues[t]) continue;
    for (const HostStall& stall : stalls.of_thread[t]) {
      const bool loader = stall.cause == IdleCause::dataloader;
      if (!loader && stall.cause != IdleCause::sync && stall.cause != IdleCause::copy_wait) continue;
      all.push_back({stall.start_ns, stall.end_ns, loader});
    }
  }
  std::sort(all.begin(), all.end(), [](const RankStall& a, const RankStall& b) {
    return std::tuple(a.start_ns, a.end_ns, a.loader) < std::tuple(b.start_ns, b.end_ns, b.loader);
  });
  std::vector<RankStall> joined;
  for (const RankStall& stall : all) {
    if (!joined.empty() && stall.start_ns < joined.back().end_ns) {
      if (stall.end_ns <= joined.back().end_ns) continue;
      joined.push_back({joined.back().end_ns, stall.end_ns, stall.loader});
    } else {
      joined.push_back(stall);
    }
  }
  return joined;
}

}  // namespace

RankWork gather_rank_work(const Model& model) {
  RankWork found;
  const Trace& trace = model.trace();
  const CallTree& tree = model.tree();
  const LaunchLinks& links = model.links();
  const DeviceWorkTable table = device_work(trace);
  CollectiveKernels communicates(trace);
  const NameFlags host_collectives(trace, is_host_collective);
  std::vector<bool> issues(tree.threads.size(), false), collects(tree.threads.size(), false);
  const OpTable op_table = ops(trace);
  std::shared_ptr<const NodeOfEvent> node_of;  // asked for where there is such an annotation
  for (const EventId event : trace.of(EventClass::annotation)) {
    if (!host_collectives[trace.events.name(event)]) continue;
    if (node_of == nullptr) node_of = model.node_of();
    const NodeId node = (*node_of)[event];
    if (node == kNoNode) continue;
    collects[thread_of(tree, node)] = true;
    found.collectives.push_back(host_collective(trace, op_table, event, trace.text(trace.events.name(event))));
    const RankCollective& collective = found.collectives.back();
    found.issued.push_back({.issued_ns = collective.start_ns,
                            .start_ns = collective.start_ns,
                            .end_ns = collective.end_ns,
                            .stream = -1,
                            .row = node.value,
                            .collective = static_cast<std::uint32_t>(found.collectives.size() - 1),
                            .launched = true});
  }
  const auto device = main_device(trace, table, &communicates);
  if (device) found.device = *device;
  CollectiveReader reader(model);
  NodeId last_launch = kNoNode;  // its thread, which mostly stays the same
  std::size_t last_thread = 0;
  for (std::size_t row = 0; device && row < table.events.size(); ++row) {
    const EventId event = table.events[row];
    const std::int64_t start = trace.events.ts_ns(event);
    if (start == kNoTime || trace.is_stray(start) || work_of(trace, event) == DeviceWork::none) continue;
    if (device_number(trace, table, event) != *device) continue;
    IssuedWork work{.start_ns = start,
                    .end_ns = start + std::max<std::int64_t>(0, trace.events.dur_ns(event).value_or(0)),
                    .stream = table.stream.integer(event).value_or(0),
                    .row = static_cast<std::uint32_t>(row)};
    const NodeId launch = links.launch[row];
    work.launched = launch != kNoNode;
    work.issued_ns = work.launched ? std::min(tree.end_ns[launch.value], start) : start;
    if (work.launched) {
      const bool same = last_launch != kNoNode && launch.value >= tree.threads[last_thread].first &&
                        launch.value - tree.threads[last_thread].first < tree.threads[last_thread].count;
      if (!same) last_thread = thread_of(tree, launch), last_launch = launch;
      if (collects[last_thread]) {  // a copy that is part of a collective of the host
        found.copies.emplace_back(work.start_ns, work.end_ns);
        continue;
      }
      issues[last_thread] = true;
    }
    if (communicates.holds(event)) {
      work.collective = static_cast<std::uint32_t>(found.collectives.size());
      found.collectives.push_back({reader.read(row), work.start_ns, work.end_ns, false});
    }
    found.issued.push_back(work);
  }
  sort_runs(&found.issued, [](const IssuedWork& a, const IssuedWork& b) {
    return std::tuple(a.issued_ns, a.start_ns, a.row) < std::tuple(b.issued_ns, b.start_ns, b.row);
  });
  // Collectives in the order of issue too.
  std::vector<RankCollective> in_order;
  in_order.reserve(found.collectives.size());
  for (IssuedWork& work : found.issued) {
    if (work.collective == UINT32_MAX) continue;
    in_order.push_back(std::move(found.collectives[work.collective]));
    work.collective = static_cast<std::uint32_t>(in_order.size() - 1);
  }
  found.collectives = std::move(in_order);
  found.stalls = stalls_of(model, issues);
  return found;
}

}  // namespace ridge
