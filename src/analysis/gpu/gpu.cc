// Measures of interval sets per device, idle pieces summed by cause; then the tables.
#include "analysis/gpu/gpu.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"
#include "model/device_properties.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

GpuDevice measure(const Device& device, TimeRange window) {
  GpuDevice out;
  out.device = device.id;
  out.window_ns = window.duration_ns();
  const IntervalSet compute = busy_time(device, window, bit_of(WorkSort::compute));
  const IntervalSet comm = busy_time(device, window, bit_of(WorkSort::comm));
  const IntervalSet copy = busy_time(device, window, bit_of(WorkSort::copy) | bit_of(WorkSort::set));
  out.compute_ns = compute.length();
  out.comm_ns = comm.length();
  out.copy_ns = copy.length();
  out.exposed_comm_ns = subtract(comm, compute).length();
  out.exposed_copy_ns = subtract(copy, unite(compute, comm)).length();
  out.busy_ns = busy_time(device, window).length();
  out.idle_ns = out.window_ns - out.busy_ns;
  return out;
}

void add_idle(const DeviceIdle& idle, const Trace& trace, const CallTree& tree, GpuDevice* out) {
  using Key = std::tuple<IdleCause, StringId, StringId>;  // cause, call, op; the empty text for none
  struct Source {
    IdleShare share;
    const IdleGap* last = nullptr;
  };
  std::map<Key, Source> sources;
  const auto name_id = [&](NodeId n) { return n == kNoNode ? StringId{} : trace.events.name(tree.event[n.value]); };
  for (const IdleGap& gap : idle.gaps) {
    unsigned seen = 0;
    for (const IdlePiece& piece : idle.pieces_of(gap)) {
      const auto cause = static_cast<std::size_t>(piece.cause);
      saturating_add(&out->idle[cause].time_ns, piece.length());
      out->idle[cause].gaps += (seen >> cause & 1U) == 0;
      seen |= 1U << cause;
      const bool is_op = piece.node != kNoNode &&
                         tree.class_of(piece.node) == EventClass::op;  // a lookup or a compile phase: the slice itself
      Source& source =
          sources[{piece.cause, name_id(piece.node), is_op ? StringId{} : name_id(outer_op(trace, tree, piece.node))}];
      saturating_add(&source.share.time_ns, piece.length());
      source.share.gaps += source.last != &gap;
      source.last = &gap;
    }
  }
  for (const auto& [key, source] : sources) {
    const auto& [cause, call, op] = key;
    out->sources.push_back(
        {cause, std::string(trace.text(call)), std::string(trace.text(op)), source.share.time_ns, source.share.gaps});
  }
  std::sort(out->sources.begin(), out->sources.end(), [](const IdleSource& a, const IdleSource& b) {
    return std::tuple(-a.time_ns, a.cause, a.call, a.op) < std::tuple(-b.time_ns, b.cause, b.call, b.op);
  });
}

Table gpu_table(const Gpu& gpu) {
  Table table;
  table.name = "gpu";
  table.hints.important = {"device",  "busy_pct",   "idle_ns", "exposed_comm_ns", "window_ns",
                           "busy_ns", "compute_ns", "comm_ns", "copy_ns"};
  table.columns = {{"device", Type::integer},
                   {"name", Type::text},
                   {"window_ns", Type::integer, Unit::ns},
                   {"busy_ns", Type::integer, Unit::ns},
                   {"busy_pct", Type::number, Unit::percent},
                   {"compute_ns", Type::integer, Unit::ns},
                   {"copy_ns", Type::integer, Unit::ns},
                   {"comm_ns", Type::integer, Unit::ns},
                   {"exposed_copy_ns", Type::integer, Unit::ns},
                   {"exposed_comm_ns", Type::integer, Unit::ns},
                   {"idle_ns", Type::integer, Unit::ns}};
  for (const GpuDevice& d : gpu.devices) {
    table.add_row({d.device, cells::text(d.name), d.window_ns, d.busy_ns, cells::percent(d.busy_ns, d.window_ns), d.compute_ns,
                   d.copy_ns, d.comm_ns, d.exposed_copy_ns, d.exposed_comm_ns, d.idle_ns});
  }
  return table;
}

Table idle_table(const Gpu& gpu) {
  Table table;
  table.name = "idle";
  table.columns = {{"device", Type::integer},
                   {"cause", Type::text},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_window", Type::number, Unit::percent},
                   {"gaps", Type::integer, Unit::count},
                   {"meaning", Type::text}};
  table.chart = Chart::bars;
  std::int64_t total = 0;
  for (const GpuDevice& d : gpu.devices) {
    std::vector<IdleCause> causes;
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      if (d.idle[i].time_ns > 0) causes.push_back(static_cast<IdleCause>(i));
    }
    const auto share = [&](IdleCause cause) { return d.idle[static_cast<std::size_t>(cause)]; };
    std::stable_sort(causes.begin(), causes.end(),
                     [&](IdleCause a, IdleCause b) { return share(a).time_ns > share(b).time_ns; });
    for (const IdleCause cause : causes) {
      table.add_row({d.device, std::string(name_of(cause)), share(cause).time_ns,
                     cells::percent(share(cause).time_ns, d.window_ns), share(cause).gaps, std::string(meaning_of(cause))});
    }
    saturating_add(&total, d.idle_ns);
  }
  if (gpu.devices.size() == 1) {
    table.total = Row{Cell(), Cell(), total, cells::percent(total, gpu.devices[0].window_ns), Cell(), Cell()};
  }
  return table;
}

Table sources_table(const Gpu& gpu) {
  Table table;
  table.name = "idle_sources";
  table.columns = {{"device", Type::integer},
                   {"cause", Type::text},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_window", Type::number, Unit::percent},
                   {"gaps", Type::integer, Unit::count},
                   {"call", Type::text},
                   {"op", Type::text}};
  for (const GpuDevice& d : gpu.devices) {
    for (const IdleSource& s : d.sources) {
      table.add_row({d.device, std::string(name_of(s.cause)), s.time_ns, cells::percent(s.time_ns, d.window_ns), s.gaps,
                     cells::text(s.call), cells::text(s.op)});
    }
  }
  return table;
}

// Whether --filter knows any of the device's work, or of what its idle time is put down to.
bool any_name_matches(const Scope& scope, const Gpu& gpu) {
  const auto known = [&](const IdleSource& s) {
    return (!s.call.empty() && scope.matches(s.call)) || (!s.op.empty() && scope.matches(s.op));
  };
  for (const GpuDevice& d : gpu.devices) {
    if (std::any_of(d.sources.begin(), d.sources.end(), known)) return true;
  }
  const Trace& trace = scope.trace();
  const NameFlags matching(trace, [&](std::string_view name) { return scope.matches(name); });
  bool any = false;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    any = any || matching[trace.events.name(trace.of(EventClass::device_work)[work.row])];
  });
  return any;
}

}  // namespace

std::string device_name(const Model& model, std::int64_t id) {
  const DeviceProperties* properties = properties_of(model, id);
  return properties == nullptr ? std::string() : properties->name;
}

Gpu compute_gpu(const Scope& scope) {
  const Model& model = scope.model();
  Gpu gpu;
  gpu.no_device_events = model.timeline().devices.empty();
  if (gpu.no_device_events) return gpu;
  const auto idle = scope.idle();
  for (std::size_t i = 0; i < idle->size(); ++i) {
    const Device& device = model.timeline().devices[i];
    if (!scope.has_device(device.id)) continue;
    gpu.devices.push_back(measure(device, scope.window()));
    gpu.devices.back().name = device_name(model, device.id);
    add_idle((*idle)[i], scope.trace(), model.tree(), &gpu.devices.back());
  }
  return gpu;
}

Report report_gpu(const Gpu& gpu) {
  Report report;
  report.tables = {gpu_table(gpu), idle_table(gpu), sources_table(gpu)};
  if (gpu.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_gpu(const Scope& scope, const Arguments&) {
  const Gpu gpu = compute_gpu(scope);
  Report report = report_gpu(gpu);
  if (scope.filtered() && !gpu.no_device_events) {
    report.diagnostics.push_back(about_filter(
        scope, any_name_matches(scope, gpu), "--filter does not apply here: busy and idle time are those of the whole device"));
  }
  return report;
}

}  // namespace ridge
