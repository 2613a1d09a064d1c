// The order in which the rules are tried: one that finds nothing leaves it to the next.
#include "model/iterations.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "model/iteration_rules.h"

namespace ridge {
namespace {

constexpr std::size_t kMostPrograms = 64;  // whose own marks are looked for, each in one walk over the trace

// The processes that launch work, or, where nothing is launched, that have slices: those that do so most first.
std::vector<TrackPart> programs(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
  std::vector<std::uint64_t> launches(trace.forms.tracks().size()), slices(launches.size());
  for (const NodeId launch : links.launch) {
    if (launch != kNoNode) ++launches[trace.track(tree.event[launch.value]).value];
  }
  const bool launched = std::any_of(launches.begin(), launches.end(), [](std::uint64_t n) { return n > 0; });
  if (!launched) {
    for (std::size_t n = 0; n < tree.recorded; ++n) ++slices[trace.track(tree.event[n]).value];
  }
  std::map<TrackPart, std::uint64_t> counts;
  for (std::size_t t = 0; t < launches.size(); ++t) counts[trace.forms.tracks()[t].pid] += launched ? launches[t] : slices[t];
  std::vector<TrackPart> order;
  for (const auto& [process, count] : counts) {
    if (count > 0) order.push_back(process);
  }
  std::stable_sort(order.begin(), order.end(), [&](const TrackPart& x, const TrackPart& y) { return counts[x] > counts[y]; });
  return order;
}

// As many pieces as the user says, cut where the device's work is cut into as many equal counts (equal times without device
// work).
IterationList by_runs(const IterationInputs& in) {
  const auto runs = static_cast<std::size_t>(in.runs);
  const TimeRange window = *in.trace.window;
  std::vector<std::int64_t> launches;
  for (const Device& device : in.timeline().devices) {
    for (const WorkRow& work : device.work) {
      const NodeId launch = in.links.launch[work.row];
      launches.push_back(launch != kNoNode ? in.tree.start_ns[launch.value] : work.start_ns);
    }
  }
  std::sort(launches.begin(), launches.end());
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < runs; ++i) {
    const auto even = static_cast<std::int64_t>(static_cast<double>(window.duration_ns()) * static_cast<double>(i) /
                                                static_cast<double>(runs));
    starts.push_back(launches.size() >= runs ? launches[launches.size() * i / runs] : window.start_ns + even);
  }
  return cut_at(starts, window);
}

IterationList whole_window(const IterationInputs& in) { return {{0, in.trace.window->start_ns, in.trace.window->end_ns}}; }

struct RuleRow {
  IterationRule rule;
  std::string_view name;
  IterationList (*find)(const IterationInputs&);
  bool by_marks = false;  // of a process: in a trace of several ranks each has its own
};

constexpr RuleRow kIterationRules[] = {
    {IterationRule::runs, "runs", [](const IterationInputs& in) { return in.runs > 0 ? by_runs(in) : IterationList{}; }},
    {IterationRule::profiler_step, "profiler_step", by_profiler_step, true},
    {IterationRule::server_step, "server_step", by_server_step, true},
    {IterationRule::optimizer_step, "optimizer_step", by_optimizer_step, true},
    {IterationRule::compiled_graph, "compiled_graph", by_compiled_graph, true},
    {IterationRule::python_frame, "python_frame", by_python_frame, true},
    {IterationRule::device_period, "device_period", by_device_period},
    {IterationRule::whole_window, "whole_window", whole_window},
};

// The same iterations by the marks of another process: those of the same numbers, or as many.
std::vector<Iterations::Marked> marked_by(const IterationInputs& other, const RuleRow& rule, const IterationList& list) {
  const IterationList own = rule.find(other);
  if (rule.rule != IterationRule::profiler_step && own.size() != list.size()) return {};
  std::unordered_map<std::int64_t, std::size_t> index_of;
  for (std::size_t i = 0; i < list.size(); ++i) index_of.emplace(list[i].number, i);
  std::vector<Iterations::Marked> marked;
  for (const Iteration& each : own) {
    const auto same = index_of.find(each.number);
    if (same != index_of.end()) marked.push_back({{each.start_ns, each.end_ns}, same->second});
  }
  return marked;
}

}  // namespace

std::string_view name_of(IterationRule rule) { return kIterationRules[static_cast<std::size_t>(rule)].name; }

std::optional<std::size_t> Iterations::at(std::int64_t time_ns) const {
  const auto it =
      std::upper_bound(list.begin(), list.end(), time_ns, [](std::int64_t t, const Iteration& i) { return t < i.start_ns; });
  if (it == list.begin() || (it - 1)->end_ns <= time_ns) return std::nullopt;
  return static_cast<std::size_t>(it - list.begin() - 1);
}

std::optional<std::size_t> Iterations::at(std::int64_t time_ns, const TrackPart& process) const {
  const auto own = elsewhere.find(process);
  if (own == elsewhere.end()) return at(time_ns);
  const std::vector<Marked>& marked = own->second;
  const auto it = std::upper_bound(marked.begin(), marked.end(), time_ns,
                                   [](std::int64_t t, const Marked& m) { return t < m.host.start_ns; });
  if (it == marked.begin() || (it - 1)->host.end_ns <= time_ns || (it - 1)->iteration >= list.size()) return std::nullopt;
  return (it - 1)->iteration;
}

std::optional<std::size_t> iteration_of_work(const Trace& trace, const CallTree& tree, const LaunchLinks& links,
                                             const Iterations& iterations, std::size_t row) {
  if (links.is_inherited(row)) return std::nullopt;
  const NodeId launch = links.launch[row];
  if (launch == kNoNode) return iterations.at(trace.events.ts_ns(trace.of(EventClass::device_work)[row]));
  const std::int64_t time = tree.start_ns[launch.value];
  if (iterations.elsewhere.empty()) return iterations.at(time);
  return iterations.at(time, trace.forms.track(trace.track(tree.event[launch.value])).pid);
}

Iterations build_iterations(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of, const LaunchLinks& links,
                            const std::function<const DeviceTimeline&()>& timeline, std::int64_t runs) {
  Iterations iterations;
  if (!trace.window) return iterations;
  const std::vector<TrackPart> processes = programs(trace, tree, links);
  IterationInputs inputs{trace, tree, node_of, links, timeline, runs, processes.empty() ? TrackPart{} : processes.front()};
  for (const RuleRow& rule : kIterationRules) {
    inputs.process = processes.empty() ? TrackPart{} : processes.front();
    iterations.list = rule.find(inputs);
    iterations.rule = rule.rule;
    if (iterations.list.empty()) continue;
    for (std::size_t p = 1; rule.by_marks && p < std::min(processes.size(), kMostPrograms); ++p) {
      inputs.process = processes[p];
      std::vector<Iterations::Marked> marked = marked_by(inputs, rule, iterations.list);
      if (!marked.empty()) iterations.elsewhere[processes[p]] = std::move(marked);
    }
    break;
  }
  return iterations;
}

}  // namespace ridge
