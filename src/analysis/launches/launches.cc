// Latency, queue depth and the cost per launch of each device; then the verdict, in words, and the tables.
#include "analysis/launches/launches.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/catalog.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "base/units.h"
#include "facts/long_calls.h"
#include "facts/scope_diagnostics.h"
#include "model/idle.h"
#include "model/name_flags.h"
#include "model/recorder_cost.h"

namespace ridge {
namespace {

// Of the time from the device's first work to its last: below this, late launches are not what bounds a program.
constexpr double kStarvedPct = 10;

// Whether a call is of an API that captures and replays graphs, which PyTorch calls CUDA graphs: CUDA and HIP.
bool can_launch_graphs(std::string_view call) { return call.starts_with("cu") || call.starts_with("hip"); }

struct Launched {
  NodeId call;
  std::int64_t start_ns;  // of the work
  std::int64_t end_ns;
};

// The work of a device in the scope whose launch is known, by call and then by start.
std::vector<Launched> launched_work(const Scope& scope, const Device& device, std::int64_t* unlinked) {
  const LaunchLinks& links = scope.model().links();
  std::vector<Launched> launched;
  for (const WorkRow& work : device.work) {
    if (!scope.holds_work(work.row)) continue;
    if (links.launch[work.row] == kNoNode) {
      ++*unlinked;
    } else {
      launched.push_back({links.launch[work.row], work.start_ns, work.end_ns});
    }
  }
  std::sort(launched.begin(), launched.end(),
            [](const Launched& a, const Launched& b) { return std::tie(a.call, a.start_ns) < std::tie(b.call, b.start_ns); });
  return launched;
}

// Puts the values around it in order, but no others.
std::int64_t percentile(std::vector<std::int64_t>* values, double p) {
  const double rank = p / 100 * static_cast<double>(values->size());
  const auto at = values->begin() + static_cast<std::ptrdiff_t>(std::min(static_cast<std::size_t>(rank), values->size() - 1));
  std::nth_element(values->begin(), at, values->end());
  return *at;
}

void measure_latency(const std::vector<Launched>& launched, const Trace& trace, const CallTree& tree, DeviceLaunches* out) {
  std::vector<std::int64_t> latencies;
  for (std::size_t i = 0; i < launched.size();) {
    const NodeId call = launched[i].call;
    latencies.push_back(std::max<std::int64_t>(0, launched[i].start_ns - tree.start_ns[call.value]));
    std::size_t end = i;
    while (end < launched.size() && launched[end].call == call) ++end;
    const bool graph = trace.text(trace.events.name(tree.event[call.value])).find("GraphLaunch") != std::string_view::npos;
    if (graph) out->from_graphs += static_cast<std::int64_t>(end - i);
    i = end;
  }
  out->calls = static_cast<std::int64_t>(latencies.size());
  out->latency_p50_ns = percentile(&latencies, 50);
  out->latency_p99_ns = percentile(&latencies, 99);
}

// +1 when a call launches a piece of work, -1 when the work starts.
void measure_queue(const std::vector<Launched>& launched, const CallTree& tree, std::int64_t origin, DeviceLaunches* out) {
  std::vector<std::pair<std::int64_t, int>> steps;
  steps.reserve(launched.size() * 2);
  for (const Launched& work : launched) {
    const std::int64_t called = tree.start_ns[work.call.value];
    steps.emplace_back(called, 1);
    steps.emplace_back(std::max(called, work.start_ns), -1);
  }
  std::sort(steps.begin(), steps.end());
  std::vector<CurvePoint> curve;
  double area = 0;
  std::int64_t depth = 0;
  for (std::size_t i = 0; i < steps.size();) {
    const std::int64_t time = steps[i].first;
    for (; i < steps.size() && steps[i].first == time; ++i) depth += steps[i].second;
    curve.emplace_back(time - origin, static_cast<double>(depth));
    if (i < steps.size()) area += static_cast<double>(depth) * static_cast<double>(steps[i].first - time);
  }
  const std::int64_t span = steps.back().first - steps.front().first;
  if (span > 0) out->queue_depth_mean = area / static_cast<double>(span);
  out->queue_depth = thin_curve(curve);
}

// Time from the first launch to the last one in which no launching thread was held up.
std::int64_t host_time(const std::vector<Launched>& launched, const CallTree& tree, const HostStalls& stalls) {
  std::int64_t from = INT64_MAX, to = INT64_MIN;
  for (const Launched& work : launched) {
    from = std::min(from, tree.start_ns[work.call.value]);
    to = std::max(to, tree.end_ns[work.call.value]);
  }
  std::vector<Interval> held;
  auto work = launched.begin();
  for (std::size_t t = 0; t < tree.threads.size(); ++t) {
    const std::uint32_t end = tree.threads[t].first + tree.threads[t].count;
    const auto first = work;
    while (work != launched.end() && work->call.value < end) ++work;
    if (first == work) continue;  // launches nothing
    for (const HostStall& stall : stalls.of_thread[t]) {
      const bool own_cost =
          stall.cause == IdleCause::guards || stall.cause == IdleCause::allocator || stall.cause == IdleCause::dependency;
      if (!own_cost) held.push_back({std::max(stall.start_ns, from), std::min(stall.end_ns, to)});
    }
  }
  return to - from - IntervalSet(std::move(held)).length();
}

// What recording cost the launching threads from the first launch to the last.
std::int64_t recorder_time(const std::vector<Launched>& launched, const Model& model) {
  const CallTree& tree = model.tree();
  std::vector<bool> threads(tree.threads.size());
  auto work = launched.begin();
  std::int64_t from = INT64_MAX, to = INT64_MIN;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const std::uint32_t end = tree.threads[t].first + tree.threads[t].count;
    for (; work != launched.end() && work->call.value < end; ++work) {
      threads[t] = true;
      from = std::min(from, tree.start_ns[work->call.value]);
      to = std::max(to, tree.end_ns[work->call.value]);
    }
  }
  return model.recorder_costs().between(threads, from, to);
}

// The time in which the device was busy with that work.
std::int64_t device_time(const std::vector<Launched>& launched) {
  std::vector<Interval> busy;
  busy.reserve(launched.size());
  for (const Launched& work : launched) busy.push_back({work.start_ns, work.end_ns});
  return IntervalSet(std::move(busy)).length();
}

// A wait for a launch that is far longer than launching takes.
void add_pause(const Model& model, const LongCalls& calls, const IdlePiece& piece, DeviceLaunches* out) {
  saturating_add(&out->pauses_ns, piece.length());
  ++out->pauses;
  const Interval time{piece.start_ns, piece.end_ns};
  const LongCalls::Part part = calls.within(piece.node, time);
  if (!part.rules(time)) return;
  saturating_add(&out->pauses_in_calls_ns, piece.length());
  const std::int64_t length = model.tree().duration_ns(part.longest);
  if (length <= out->longest_call_ns) return;
  out->longest_call_ns = length;
  out->longest_call = model.trace().text(model.trace().events.name(model.tree().event[part.longest.value]));
}

void add_gain(const DeviceIdle& idle, const Model& model, const LongCalls& calls, DeviceLaunches* out) {
  const LaunchLinks& links = model.links();
  for (const IdleGap& gap : idle.gaps) {
    const bool both = gap.last_work != kNoWork && gap.next_work != kNoWork;
    const bool in_graph =
        both && links.launch[gap.next_work] != kNoNode && links.launch[gap.next_work] == links.launch[gap.last_work];
    for (const IdlePiece& piece : idle.pieces_of(gap)) {
      if (piece.cause == IdleCause::launch && piece.length() >= kHostPauseNs) {
        add_pause(model, calls, piece, out);
        continue;
      }
      saturating_add(&out->idle_ns[static_cast<std::size_t>(piece.cause)], piece.length());
      const bool goes = is_late(piece.cause) || piece.cause == IdleCause::kernel_gap;
      if (goes && !in_graph) saturating_add(&out->cuda_graph_gain_ns, piece.length());
    }
  }
}

// What the device lacked work for most, between its first work and its last, being recorded aside.
IdleCause main_cause(const DeviceLaunches& d) {
  auto idle_ns = d.idle_ns;
  idle_ns[static_cast<std::size_t>(IdleCause::head_tail)] = 0;
  idle_ns[static_cast<std::size_t>(IdleCause::recorder)] = 0;
  return static_cast<IdleCause>(std::max_element(idle_ns.begin(), idle_ns.end()) - idle_ns.begin());
}

double share_pct(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<LaunchCall> count_calls(const Scope& scope) {
  const CallTree& tree = scope.model().tree();
  const Trace& trace = scope.trace();
  std::vector<std::int64_t> launched(tree.size());
  for (const NodeId call : scope.model().links().launch) {
    if (call != kNoNode) ++launched[call.value];
  }
  std::map<StringId, LaunchCall> by_name;
  for (std::uint32_t n = 0; n < tree.recorded; ++n) {
    const NodeId node{n};
    if (tree.class_of(node) != EventClass::launch || !scope.holds(node)) continue;
    LaunchCall& call = by_name[trace.events.name(tree.event[n])];
    ++call.calls;
    call.launched += launched[n];
    saturating_add(&call.self_ns, tree.duration_ns(node));
    call.max_ns = std::max(call.max_ns, tree.duration_ns(node));
    const NodeId above = tree.parent[n];
    if (above != kNoNode && tree.class_of(above) == EventClass::launch) {
      by_name[trace.events.name(tree.event[above.value])].self_ns -= tree.duration_ns(node);
    }
  }
  std::vector<LaunchCall> calls;
  for (auto& [name, call] : by_name) {
    call.name = trace.text(name);
    if (call.calls > 0 && scope.matches(call.name)) calls.push_back(std::move(call));
  }
  std::sort(calls.begin(), calls.end(),
            [](const LaunchCall& a, const LaunchCall& b) { return std::tie(b.self_ns, a.name) < std::tie(a.self_ns, b.name); });
  return calls;
}

Table launches_table(const Launches& launches) {
  Table table;
  table.name = "launches";
  table.columns = {{"calls", Type::integer, Unit::count},
                   {"latency_p50_ns", Type::integer, Unit::ns},
                   {"latency_p99_ns", Type::integer, Unit::ns},
                   {"host_ns_per_launch", Type::number, Unit::ns},
                   {"device_ns_per_launch", Type::number, Unit::ns},
                   {"queue_depth_mean", Type::number, Unit::count},
                   {"launch_bound", Type::boolean},
                   {"cuda_graph_gain_ns", Type::integer, Unit::ns},
                   {"device", Type::integer},
                   {"launched", Type::integer, Unit::count},
                   {"launched_by_graphs", Type::integer, Unit::count},
                   {"launched_before_window", Type::integer, Unit::count},
                   {"verdict", Type::text}};
  table.hints.key_value = launches.devices.size() == 1;
  for (const DeviceLaunches& d : launches.devices) {
    table.add_row({d.calls, cells::integer(d.latency_p50_ns), cells::integer(d.latency_p99_ns),
                   cells::number(d.host_ns_per_launch), cells::number(d.device_ns_per_launch),
                   cells::number(d.queue_depth_mean), cells::boolean(d.launch_bound), d.cuda_graph_gain_ns, d.device,
                   d.launched, d.from_graphs, d.unlinked, launch_verdict(d)});
  }
  return table;
}

Table calls_table(const Launches& launches) {
  Table table;
  table.name = "launch_calls";
  table.columns = {{"call", Type::text},
                   {"calls", Type::integer, Unit::count},
                   {"launched", Type::integer, Unit::count},
                   {"self_ns", Type::integer, Unit::ns},
                   {"mean_ns", Type::number, Unit::ns},
                   {"max_ns", Type::integer, Unit::ns}};
  LaunchCall total;
  for (const LaunchCall& c : launches.calls) {
    table.add_row(
        {c.name, c.calls, c.launched, c.self_ns, static_cast<double>(c.self_ns) / static_cast<double>(c.calls), c.max_ns});
    total.calls += c.calls;
    total.launched += c.launched;
    saturating_add(&total.self_ns, c.self_ns);
  }
  table.total = Row{Cell(), total.calls, total.launched, total.self_ns, Cell(), Cell()};
  return table;
}

}  // namespace

std::optional<bool> host_keeps_up(const DeviceLaunches& d) {
  if (!d.host_ns_per_launch || !d.device_ns_per_launch) return std::nullopt;
  const double recorder = static_cast<double>(d.recorder_ns) / static_cast<double>(std::max<std::int64_t>(1, d.calls));
  return *d.host_ns_per_launch - recorder <= *d.device_ns_per_launch;
}

std::string launch_verdict(const DeviceLaunches& d) {
  if (d.calls == 1) return "unknown: one launch is not enough for a rate";
  if (!d.launch_bound) return "unknown: the trace has no launches for this device";
  const std::string costs = fmt::format("the host takes {} per launch, the device {}", format_duration(*d.host_ns_per_launch),
                                        format_duration(*d.device_ns_per_launch));
  const double graph_pct = share_pct(d.from_graphs, d.launched);
  const std::string graphs = graph_pct >= 50
                                 ? fmt::format("{} of the work already runs in graphs; more graphs", format_percent(graph_pct))
                                 : std::string(d.takes_graphs ? "CUDA graphs" : "timely launches");
  const std::string gain = fmt::format(
      "{} would save at most {} ({} of the window){}", graphs, format_duration(static_cast<double>(d.cuda_graph_gain_ns)),
      format_percent(share_pct(d.cuda_graph_gain_ns, d.window_ns)),
      d.pauses == 0 ? ""
                    : fmt::format(", not counting {} in pauses of over {}", format_duration(static_cast<double>(d.pauses_ns)),
                                  format_duration(static_cast<double>(kHostPauseNs))));
  std::string verdict = *d.launch_bound ? "launch-bound" : "not launch-bound";
  if (d.recorder_may_explain) {
    verdict +=
        fmt::format(" when nobody records (the device waits for launches in the trace, but recording cost the host about {})",
                    format_duration(static_cast<double>(d.recorder_ns)));
  }
  const IdleCause cause = main_cause(d);
  const double cause_pct = share_pct(d.idle_of(cause), d.window_ns);
  const bool paused = !*d.launch_bound && share_pct(d.pauses_ns, d.window_ns) >= std::max(kStarvedPct, cause_pct);
  if (paused && d.pauses_in_calls_ns * 2 >= d.pauses_ns) {
    verdict +=
        fmt::format(" (main cause of idle: slow driver calls, as on first use, for {} of the window; the longest: {}, {})",
                    format_percent(share_pct(d.pauses_in_calls_ns, d.window_ns)), d.longest_call,
                    format_duration(static_cast<double>(d.longest_call_ns)));
  } else if (paused) {
    verdict += fmt::format(" (main cause of idle: the host does other work for {} of the window, in {} pauses of over {})",
                           format_percent(share_pct(d.pauses_ns, d.window_ns)), d.pauses,
                           format_duration(static_cast<double>(kHostPauseNs)));
  } else if (!*d.launch_bound && cause != IdleCause::launch && cause_pct >= kStarvedPct) {
    verdict += fmt::format(" (main cause of idle: {1}, {0} of the window)", format_percent(cause_pct), name_of(cause));
  }
  return verdict + ": " + costs + "; " + gain;
}

std::vector<DeviceLaunches> compute_launch_rates(const Scope& scope, WithQueue with_queue) {
  const Model& model = scope.model();
  std::vector<DeviceLaunches> devices;
  const auto idle = scope.idle();
  const HostStalls& stalls = model.host_stalls();
  const LongCalls long_calls(model.tree());
  const NameFlags takes_graphs(model.trace(), can_launch_graphs);
  for (std::size_t i = 0; i < idle->size(); ++i) {
    const Device& device = model.timeline().devices[i];
    if (!scope.has_device(device.id)) continue;
    DeviceLaunches d;
    d.device = device.id;
    d.window_ns = scope.window().duration_ns();
    const std::vector<Launched> launched = launched_work(scope, device, &d.unlinked);
    d.launched = static_cast<std::int64_t>(launched.size());
    add_gain((*idle)[i], model, long_calls, &d);
    if (!launched.empty()) {
      measure_latency(launched, model.trace(), model.tree(), &d);
      if (with_queue == WithQueue::yes) measure_queue(launched, model.tree(), scope.origin_ns(), &d);
      d.takes_graphs = takes_graphs[model.trace().events.name(model.tree().event[launched.front().call.value])];
    }
    if (d.calls > 1) {
      const auto calls = static_cast<double>(d.calls);
      d.host_ns_per_launch = static_cast<double>(host_time(launched, model.tree(), stalls)) / calls;
      d.device_ns_per_launch = static_cast<double>(device_time(launched)) / calls;
      const std::int64_t span_ns = d.window_ns - d.idle_of(IdleCause::head_tail);
      const bool starved = share_pct(d.idle_of(IdleCause::launch), span_ns) >= kStarvedPct;
      const std::int64_t late_ns = d.idle_of(IdleCause::launch) + d.idle_of(IdleCause::recorder);
      d.recorder_ns = recorder_time(launched, model);
      d.launch_bound = starved && main_cause(d) == IdleCause::launch && d.pauses_ns <= d.idle_of(IdleCause::launch) &&
                       !host_keeps_up(d).value();
      d.recorder_may_explain = !*d.launch_bound && share_pct(late_ns, span_ns) >= kStarvedPct;
    }
    devices.push_back(std::move(d));
  }
  return devices;
}

Launches compute_launches(const Scope& scope) {
  Launches out;
  out.no_device_events = scope.model().timeline().devices.empty();
  out.calls = count_calls(scope);
  if (!out.no_device_events) out.devices = compute_launch_rates(scope, WithQueue::yes);
  return out;
}

Report report_launches(const Launches& launches) {
  Report report;
  report.tables = {launches_table(launches), calls_table(launches)};
  for (const DeviceLaunches& d : launches.devices) {
    if (!d.queue_depth.empty())
      report.series.push_back({"queue_depth of device " + std::to_string(d.device), Unit::count, d.queue_depth});
  }
  if (launches.no_device_events) report.diagnostics.push_back(no_device_events());
  return report;
}

Result<Report> run_launches(const Scope& scope, const Arguments&) {
  const Launches launches = compute_launches(scope);
  Report report = report_launches(launches);
  const bool matches = !launches.calls.empty();
  if (scope.filtered() && !launches.no_device_events && (matches || !count_calls(scope.unfiltered()).empty())) {
    report.diagnostics.push_back(
        about_filter(scope, matches, "--filter applies to launch_calls; device figures cover all launches"));
  }
  return report;
}

}  // namespace ridge
