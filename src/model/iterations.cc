// The rules, one function each, in the order in which they are tried; a rule that finds nothing leaves it to the next.
#include "model/iterations.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>

#include "model/name_flags.h"
#include "model/region_id.h"
#include "model/server_steps.h"

namespace ridge {
namespace {

struct Inputs {
  const Trace& trace;
  const CallTree& tree;
  const NodeOfEvent& node_of;
  const LaunchLinks& links;
  const std::function<const DeviceTimeline&()>& timeline;
  std::int64_t runs;
  TrackPart process;  // whose loop it is: traces of several ranks have the marks of each
};

using List = std::vector<Iteration>;

constexpr std::size_t kMostPrograms = 64;  // whose own marks are looked for, each in one walk over the trace

std::string_view name_at(const Inputs& in, std::size_t node) {
  return in.trace.text(in.trace.events.name(in.tree.event[node]));
}

bool in_main_process(const Inputs& in, std::size_t node) {
  return in.trace.forms.track(in.trace.track(in.tree.event[node])).pid == in.process;
}

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

// The ops and annotations whose name satisfies a condition, in tree order: those of the main process, when it has any.
template <class Condition>
std::vector<std::uint32_t> marks_named(const Inputs& in, Condition condition) {
  const NameFlags wanted(in.trace, condition);
  if (!wanted.any()) return {};
  std::vector<std::uint32_t> marks;
  for (const EventClass c : {EventClass::annotation, EventClass::op}) {
    for (const EventId event : in.trace.of(c)) {  // and not along the tree, which goes back and forth in the file
      if (wanted[in.trace.events.name(event)] && in.node_of[event] != kNoNode) marks.push_back(in.node_of[event].value);
    }
  }
  std::sort(marks.begin(), marks.end());
  const auto elsewhere = [&](std::uint32_t n) { return !in_main_process(in, n); };
  if (!std::all_of(marks.begin(), marks.end(), elsewhere)) std::erase_if(marks, elsewhere);
  return marks;
}

// Marks cut the window into pieces: each reaches to the next, the last to the window's end; what is before the first belongs to
// it.
List cut_at(std::vector<std::int64_t> starts, TimeRange window) {
  std::sort(starts.begin(), starts.end());
  List list;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t from = i == 0 ? std::min(window.start_ns, starts[i]) : starts[i];
    const std::int64_t to = i + 1 < starts.size() ? starts[i + 1] : std::max(window.end_ns, from);
    list.push_back({static_cast<std::int64_t>(i), from, to});
  }
  return list;
}

// ---- a server's marks
// -----------------------------------------------------------------------------------------------------------

// A step reaches to the next: what the server does between them (sampling, scheduling) belongs to it. Marks inside another are
// the same step's.
List by_server_step(const Inputs& in) {
  std::vector<std::int64_t> starts;
  std::int64_t covered_ns = INT64_MIN;
  std::vector<std::uint32_t> marks = marks_named(in, is_server_step);
  std::erase_if(marks, [&](std::uint32_t n) { return in.tree.event_class[n] != EventClass::annotation; });
  std::stable_sort(marks.begin(), marks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return in.tree.start_ns[a] < in.tree.start_ns[b]; });
  for (const std::uint32_t n : marks) {
    if (in.tree.start_ns[n] < covered_ns) continue;
    covered_ns = in.tree.end_ns[n];
    starts.push_back(in.tree.start_ns[n]);
  }
  return starts.empty() ? List{} : cut_at(starts, *in.trace.window);
}

// ---- ProfilerStep#N
// -------------------------------------------------------------------------------------------------------------

List by_profiler_step(const Inputs& in) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  List list;
  for (const std::uint32_t n : marks_named(in, [&](std::string_view name) { return name.starts_with(kPrefix); })) {
    const std::string_view name = name_at(in, n);
    std::int64_t number = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
    list.push_back({number, in.tree.start_ns[n], in.tree.end_ns[n]});
  }
  std::sort(list.begin(), list.end(), [](const Iteration& a, const Iteration& b) { return a.start_ns < b.start_ns; });
  // One step marked on several threads is one step.
  list.erase(std::unique(list.begin(), list.end(), [](const Iteration& a, const Iteration& b) { return a.number == b.number; }),
             list.end());
  for (std::size_t i = 1; i < list.size(); ++i) list[i - 1].end_ns = std::min(list[i - 1].end_ns, list[i].start_ns);
  // A recording of one step, in which a server ran several of its own.
  return list.size() == 1 && by_server_step(in).size() > 1 ? List{} : list;
}

// ---- Optimizer.step
// -------------------------------------------------------------------------------------------------------------

// An iteration ends with its optimizer step: cut behind each.
List by_optimizer_step(const Inputs& in) {
  std::map<std::string_view, std::vector<std::int64_t>> ends;  // by name: two optimizers step in turn
  for (const std::uint32_t n : marks_named(in, [](std::string_view name) { return name.starts_with("Optimizer.step"); })) {
    ends[name_at(in, n)].push_back(in.tree.end_ns[n]);
  }
  if (ends.empty()) return {};
  const auto most_regular = std::min_element(ends.begin(), ends.end(),
                                             [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<std::int64_t>& marks = most_regular->second;
  std::sort(marks.begin(), marks.end());
  std::vector<std::int64_t> starts{in.trace.window->start_ns};
  starts.insert(starts.end(), marks.begin(), marks.end() - 1);
  return cut_at(starts, *in.trace.window);
}

// ---- compiled graphs
// ------------------------------------------------------------------------------------------------------------

bool is_graph_call(std::string_view name) { return name.starts_with("## Call CompiledFxGraph"); }

using Calls = std::map<std::string, std::vector<std::int64_t>>;  // starts by what is called

Calls graph_calls(const Inputs& in) {
  Calls calls;
  for (const std::uint32_t n : marks_named(in, is_graph_call))
    calls[std::string(name_at(in, n))].push_back(in.tree.start_ns[n]);
  return calls;
}

// When the call of a region begins: with the lookup that found its code, which is the slice before it.
std::int64_t call_start(const Inputs& in, std::uint32_t region) {
  const auto starts_thread = [&](const HostThread& thread) { return thread.first == region; };
  if (std::any_of(in.tree.threads.begin(), in.tree.threads.end(), starts_thread)) return in.tree.start_ns[region];
  std::uint32_t before = region - 1;
  while (in.tree.parent[before] != in.tree.parent[region]) {
    if (in.tree.parent[before] == kNoNode) return in.tree.start_ns[region];
    before = in.tree.parent[before].value;
  }
  return in.tree.start_ns[name_at(in, before) == kCacheLookup ? before : region];
}

// Calls of regions whose id the trace gives.
Calls region_calls(const Inputs& in) {
  Calls calls;
  for (const std::uint32_t n : marks_named(in, is_region)) {
    const CompileId id = region_id(in.trace, in.tree.event[n]);
    if (id.known()) calls[text_of(id)].push_back(call_start(in, n));
  }
  return calls;
}

// Every graph is called a whole number of times in an iteration, so that the divisor of all counts is the number of iterations.
List cut_by_divisor(Calls calls, TimeRange window) {
  std::size_t divisor = 0;
  for (auto& [name, starts] : calls) {
    divisor = std::gcd(divisor, starts.size());
    std::sort(starts.begin(), starts.end());
  }
  if (divisor < 2) return {};
  // The iteration starts with the graph whose first call is the earliest.
  const auto first = std::min_element(calls.begin(), calls.end(),
                                      [](const auto& a, const auto& b) { return a.second.front() < b.second.front(); });
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < first->second.size(); i += first->second.size() / divisor) starts.push_back(first->second[i]);
  return cut_at(starts, window);
}

// Numbered regions tell more than graphs: equal code compiled at two places is one graph and two regions.
List by_compiled_graph(const Inputs& in) {
  for (const auto calls : {region_calls, graph_calls}) {
    List list = cut_by_divisor(calls(in), *in.trace.window);
    if (!list.empty()) return list;
  }
  return {};
}

// ---- Python frames
// --------------------------------------------------------------------------------------------------------------

// Whether compiled code runs and none of it twice: each call was compiled anew. What recurs around it is then a repeat inside a
// step.
bool only_compiles(const Inputs& in) {
  const Calls calls = region_calls(in);
  return !calls.empty() && std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call.second.size() == 1; });
}

// The outermost frame that is called twice or more from one place and whose calls hold (nearly) all launches.
List by_python_frame(const Inputs& in) {
  if (only_compiles(in)) return {};
  // Launches per node, summed up the tree.
  std::vector<std::uint32_t> launches(in.tree.size());
  std::uint32_t total = 0;
  for (const NodeId launch : in.links.launch) {
    if (launch == kNoNode || !in_main_process(in, launch.value)) continue;
    ++launches[launch.value];
    ++total;
  }
  if (total == 0) return {};
  for (std::size_t n = in.tree.size(); n-- > 0;) {
    if (in.tree.parent[n] != kNoNode) launches[in.tree.parent[n].value] += launches[n];
  }
  struct Group {
    std::vector<std::int64_t> starts;
    std::uint64_t launches = 0;
    std::uint32_t first_node = 0;
  };
  std::map<std::pair<std::uint32_t, StringId>, Group> groups;  // by parent and name
  for (std::uint32_t n = 0; n < in.tree.size(); ++n) {
    if (in.tree.event_class[n] != EventClass::python_frame || launches[n] == 0) continue;
    Group& group = groups[{in.tree.parent[n].value, in.trace.events.name(in.tree.event[n])}];
    if (group.starts.empty()) group.first_node = n;
    group.starts.push_back(in.tree.start_ns[n]);
    group.launches += launches[n];
  }
  const Group* best = nullptr;
  for (const auto& [key, group] : groups) {
    const bool holds = group.launches * 10 >= std::uint64_t{total} * 9;
    if (group.starts.size() >= 2 && holds && (best == nullptr || group.first_node < best->first_node)) best = &group;
  }
  return best == nullptr ? List{} : cut_at(best->starts, *in.trace.window);
}

// ---- period of the device's work
// ------------------------------------------------------------------------------------------------

// The shortest p such that the sequence of names repeats every p events to its end; 0 when it does not repeat. Linear
// (Knuth-Morris-Pratt).
std::size_t period_of(const std::vector<std::uint32_t>& names) {
  std::vector<std::size_t> border(names.size() + 1);
  for (std::size_t i = 1, k = 0; i < names.size(); ++i) {
    while (k > 0 && names[i] != names[k]) k = border[k];
    if (names[i] == names[k]) ++k;
    border[i + 1] = k;
  }
  const std::size_t period = names.size() - border[names.size()];
  return period < names.size() && names.size() % period == 0 ? period : 0;
}

// The shortest multiple of the period that cuts no launch in two, 0 when only the whole does: equal layers of a graph that is
// replayed by one launch are repeats inside a step.
std::size_t period_by_launch(const Inputs& in, const Device& device, std::size_t period) {
  if (period == 0) return 0;
  const auto cuts_a_launch = [&](std::size_t at) {
    const NodeId launch = in.links.launch[device.work[at].row];
    return launch != kNoNode && launch == in.links.launch[device.work[at - 1].row];
  };
  const std::size_t repeats = device.work.size() / period;
  for (std::size_t joined = 1; joined < repeats; ++joined) {
    if (repeats % joined != 0) continue;
    bool whole = true;
    for (std::size_t at = period * joined; whole && at < device.work.size(); at += period * joined) whole = !cuts_a_launch(at);
    if (whole) return period * joined;
  }
  return 0;
}

// Regions that lie in no other.
std::size_t outermost_regions(const Inputs& in) {
  std::size_t count = 0;
  auto thread = in.tree.threads.begin();
  std::int64_t covered_ns = INT64_MIN;
  for (const std::uint32_t n : marks_named(in, is_region)) {
    for (; n >= thread->first + thread->count; ++thread) covered_ns = INT64_MIN;
    if (in.tree.start_ns[n] < covered_ns) continue;
    covered_ns = in.tree.end_ns[n];
    ++count;
  }
  return count;
}

List by_device_period(const Inputs& in) {
  // Where compiled code runs and its calls do not repeat, equal kernels in a row are repeats inside a step.
  if (!region_calls(in).empty()) return {};
  const Device* busiest = nullptr;
  for (const Device& device : in.timeline().devices) {
    if (busiest == nullptr || device.work.size() > busiest->work.size()) busiest = &device;
  }
  if (busiest == nullptr || busiest->work.empty()) return {};
  const std::span<const EventId> rows = in.trace.of(EventClass::device_work);
  std::vector<std::uint32_t> names;
  names.reserve(busiest->work.size());
  for (const WorkRow& work : busiest->work) names.push_back(in.trace.events.name(rows[work.row]).value);
  const std::size_t period = period_by_launch(in, *busiest, period_of(names));
  if (period == 0) return {};
  // Calls of compiled code that have no ids: as many in each iteration.
  if (outermost_regions(in) % (names.size() / period) != 0) return {};
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < busiest->work.size(); i += period) {
    const NodeId launch = in.links.launch[busiest->work[i].row];
    starts.push_back(launch != kNoNode ? in.tree.start_ns[launch.value] : busiest->work[i].start_ns);
  }
  return cut_at(starts, *in.trace.window);
}

// ---- the user's word, and nothing
// -----------------------------------------------------------------------------------------------

// As many pieces as the user says, cut where the device's work is cut into as many equal counts (equal times without device
// work).
List by_runs(const Inputs& in) {
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

List whole_window(const Inputs& in) { return {{0, in.trace.window->start_ns, in.trace.window->end_ns}}; }

struct RuleRow {
  IterationRule rule;
  std::string_view name;
  List (*find)(const Inputs&);
  bool by_marks = false;  // of a process: in a trace of several ranks each has its own
};

constexpr RuleRow kIterationRules[] = {
    {IterationRule::runs, "runs", [](const Inputs& in) { return in.runs > 0 ? by_runs(in) : List{}; }},
    {IterationRule::profiler_step, "profiler_step", by_profiler_step, true},
    {IterationRule::server_step, "server_step", by_server_step, true},
    {IterationRule::optimizer_step, "optimizer_step", by_optimizer_step, true},
    {IterationRule::compiled_graph, "compiled_graph", by_compiled_graph, true},
    {IterationRule::python_frame, "python_frame", by_python_frame, true},
    {IterationRule::device_period, "device_period", by_device_period},
    {IterationRule::whole_window, "whole_window", whole_window},
};

// The same iterations by the marks of another process: those of the same numbers, or as many.
std::vector<Iterations::Marked> marked_by(const Inputs& other, const RuleRow& rule, const List& list) {
  const List own = rule.find(other);
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
  Inputs inputs{trace, tree, node_of, links, timeline, runs, processes.empty() ? TrackPart{} : processes.front()};
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
