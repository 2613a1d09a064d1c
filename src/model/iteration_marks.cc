// Iterations by marks: those that the profiler, a server or an optimizer leaves in the trace.
#include <algorithm>
#include <charconv>
#include <map>

#include "model/iteration_rules.h"
#include "model/name_flags.h"
#include "model/server_steps.h"

namespace ridge {

std::string_view name_at(const IterationInputs& in, std::size_t node) {
  return in.trace.text(in.trace.events.name(in.tree.event[node]));
}

bool in_main_process(const IterationInputs& in, std::size_t node) {
  return in.trace.forms.track(in.trace.track(in.tree.event[node])).pid == in.process;
}

std::vector<std::uint32_t> marks_named(const IterationInputs& in, bool (*condition)(std::string_view name)) {
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

IterationList cut_at(std::vector<std::int64_t> starts, TimeRange window) {
  std::sort(starts.begin(), starts.end());
  IterationList list;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t from = i == 0 ? std::min(window.start_ns, starts[i]) : starts[i];
    const std::int64_t to = i + 1 < starts.size() ? starts[i + 1] : std::max(window.end_ns, from);
    list.push_back({static_cast<std::int64_t>(i), from, to});
  }
  return list;
}

// A step reaches to the next: what the server does between them (sampling, scheduling) belongs to it. Marks inside another are
// the same step's.
IterationList by_server_step(const IterationInputs& in) {
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
  return starts.empty() ? IterationList{} : cut_at(starts, *in.trace.window);
}

IterationList by_profiler_step(const IterationInputs& in) {
  static constexpr std::string_view kPrefix = "ProfilerStep#";
  IterationList list;
  for (const std::uint32_t n : marks_named(in, [](std::string_view name) { return name.starts_with(kPrefix); })) {
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
  return list.size() == 1 && by_server_step(in).size() > 1 ? IterationList{} : list;
}

// An iteration ends with its optimizer step: cut behind each.
IterationList by_optimizer_step(const IterationInputs& in) {
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

}  // namespace ridge
