// Iterations by what repeats: calls of compiled code, Python frames, the sequence of the device's work.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "model/iteration_rules.h"
#include "model/region_id.h"

namespace ridge {
namespace {

bool is_graph_call(std::string_view name) { return name.starts_with("## Call CompiledFxGraph"); }

using Calls = std::map<std::string, std::vector<std::int64_t>>;  // starts by what is called

Calls graph_calls(const IterationInputs& in) {
  Calls calls;
  for (const std::uint32_t n : marks_named(in, is_graph_call))
    calls[std::string(name_at(in, n))].push_back(in.tree.start_ns[n]);
  return calls;
}

// When the call of a region begins: with the lookup that found its code, which is the slice before it.
std::int64_t call_start(const IterationInputs& in, std::uint32_t region) {
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
Calls region_calls(const IterationInputs& in) {
  Calls calls;
  for (const std::uint32_t n : marks_named(in, is_region)) {
    const CompileId id = region_id(in.trace, in.tree.event[n]);
    if (id.known()) calls[text_of(id)].push_back(call_start(in, n));
  }
  return calls;
}

// Every graph is called a whole number of times in an iteration, so that the divisor of all counts is the number of iterations.
IterationList cut_by_divisor(Calls calls, TimeRange window) {
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

// Whether compiled code runs and none of it twice: each call was compiled anew. What recurs around it is then a repeat inside a
// step.
bool only_compiles(const IterationInputs& in) {
  const Calls calls = region_calls(in);
  return !calls.empty() && std::all_of(calls.begin(), calls.end(), [](const auto& call) { return call.second.size() == 1; });
}

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
std::size_t period_by_launch(const IterationInputs& in, const Device& device, std::size_t period) {
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
std::size_t outermost_regions(const IterationInputs& in) {
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

}  // namespace

// Numbered regions tell more than graphs: equal code compiled at two places is one graph and two regions.
IterationList by_compiled_graph(const IterationInputs& in) {
  for (const auto calls : {region_calls, graph_calls}) {
    IterationList list = cut_by_divisor(calls(in), *in.trace.window);
    if (!list.empty()) return list;
  }
  return {};
}

// The outermost frame that is called twice or more from one place and whose calls hold (nearly) all launches.
IterationList by_python_frame(const IterationInputs& in) {
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
  return best == nullptr ? IterationList{} : cut_at(best->starts, *in.trace.window);
}

IterationList by_device_period(const IterationInputs& in) {
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

}  // namespace ridge
