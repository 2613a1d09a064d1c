// Device work summed by iteration; an iteration begins no earlier than the device is done with the one before. Of a server's
// steps, which cut the window too, the first begins and the last ends with its mark, where the work does not reach beyond.
#include "model/iteration_spans.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/median.h"
#include "base/saturating.h"
#include "model/name_flags.h"
#include "model/server_steps.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

struct DevicePart {
  std::int64_t first_launch_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_work_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = kNever;
  std::int64_t work = 0;

  bool any() const { return end_ns != kNever; }
};

// By iteration; `inherited_end_ns`: when the device has done what was queued before the recording.
std::vector<DevicePart> device_parts(const Trace& trace, const CallTree& tree, const LaunchLinks& links,
                                     const Iterations& iterations, std::int64_t* inherited_end_ns) {
  std::vector<DevicePart> parts(iterations.list.size());
  const std::span<const EventId> work = trace.of(EventClass::device_work);
  for (std::size_t row = 0; row < work.size(); ++row) {
    const std::int64_t start = trace.events.ts_ns(work[row]);
    if (start == kNoTime || trace.is_stray(start) || work_of(trace, work[row]) == DeviceWork::none)
      continue;  // as the timeline
    std::int64_t end = start;
    saturating_add(&end, trace.events.dur_ns(work[row]).value_or(0));
    if (links.is_inherited(row)) {
      *inherited_end_ns = std::max(*inherited_end_ns, end);
      continue;
    }
    const NodeId launch = links.launch[row];
    const std::int64_t launched = launch != kNoNode ? tree.start_ns[launch.value] : start;
    const std::optional<std::size_t> at = iteration_of_work(trace, tree, links, iterations, row);
    if (!at) continue;
    DevicePart& part = parts[*at];
    part.first_launch_ns = std::min(part.first_launch_ns, launched);
    part.first_work_ns = std::min(part.first_work_ns, start);
    part.end_ns = std::max(part.end_ns, end);
    ++part.work;
  }
  return parts;
}

// From the start of the first step that a server marks to the end of the last; of other iterations nothing is marked, which
// holds for any time.
TimeRange marked_by_server(const Trace& trace, const Iterations& iterations) {
  TimeRange marked{std::numeric_limits<std::int64_t>::max(), kNever};
  if (iterations.rule != IterationRule::server_step || iterations.list.empty()) return marked;
  const NameFlags wanted(trace, is_server_step);
  for (const EventId event : trace.of(EventClass::annotation)) {
    const std::int64_t start = trace.events.ts_ns(event);
    if (!wanted[trace.events.name(event)] || !iterations.at(start)) continue;
    std::int64_t end = start;
    saturating_add(&end, trace.events.dur_ns(event).value_or(0));
    marked.start_ns = std::min(marked.start_ns, start);
    marked.end_ns = std::max(marked.end_ns, end);
  }
  return marked;
}

// Where nothing marks iterations, a few kernels that repeat may be the body of a loop, such as one over parameters; the first
// of them is then late because of one slow launch.
bool may_be_loop_body(const Iterations& iterations, const Iteration& iteration) {
  constexpr std::int64_t kLongestBody = 10;  // device events: what an optimizer written by hand does to a tensor
  return is_guess(iterations.rule) && iteration.work <= kLongestBody;
}

}  // namespace

void add_spans(const Trace& trace, const CallTree& tree, const LaunchLinks& links, Iterations* iterations) {
  std::int64_t done = kNever;  // when the device has done the work of all iterations so far
  std::vector<DevicePart> parts = device_parts(trace, tree, links, *iterations, &done);
  // A host that was done with the first iteration before the device began it was ahead: the device was busy with what came
  // before, recorded or not.
  if (!parts.empty() && parts[0].any() && parts[0].first_work_ns >= iterations->list[0].end_ns)
    done = std::max(done, parts[0].first_work_ns);
  // The step that the recording ended in: begun, and nothing launched yet.
  while (iterations->rule == IterationRule::profiler_step && parts.size() > 1 && !parts.back().any() &&
         parts[parts.size() - 2].any()) {
    parts.pop_back();
    iterations->list.pop_back();
  }
  const bool cut = are_cut(*iterations);
  const TimeRange marked = marked_by_server(trace, *iterations);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Iteration& it = iterations->list[i];
    std::int64_t from = it.start_ns, to = it.end_ns;
    if (cut && i == 0 && parts[i].any()) from = std::max(from, std::min(marked.start_ns, parts[i].first_launch_ns));
    if (cut && i + 1 == parts.size() && parts[i].any()) to = std::min(to, std::max(marked.end_ns, parts[i].end_ns));
    it.begins_ns = std::max(it.start_ns, done);
    it.span.start_ns = std::max(from, done);
    it.span.end_ns = std::max({it.span.start_ns, to, parts[i].end_ns});
    if (parts[i].any()) it.first_work_ns = parts[i].first_work_ns;
    it.work = parts[i].work;
    done = std::max(done, parts[i].end_ns);
  }
}

std::optional<FirstIteration> first_iteration(const Iterations& iterations, std::span<const std::size_t> inside) {
  constexpr std::size_t kFewest = 3;
  if (!inside.empty() && may_be_loop_body(iterations, iterations.list[inside.front()])) return std::nullopt;
  // Where the device has work, those that have some are compared.
  const bool by_work = std::ranges::any_of(inside, [&](std::size_t i) { return iterations.list[i].first_work_ns.has_value(); });
  std::vector<std::int64_t> begins, spans;
  std::optional<std::size_t> measured;
  for (const std::size_t i : inside) {
    const Iteration& it = iterations.list[i];
    if (by_work && !it.first_work_ns) continue;
    if (by_work) begins.push_back(*it.first_work_ns);
    spans.push_back(it.span.duration_ns());
    if (!measured) measured = i;
  }
  if (spans.size() < kFewest) return std::nullopt;
  std::vector<std::int64_t> between;
  for (std::size_t i = 1; i < begins.size(); ++i) between.push_back(begins[i] - begins[i - 1]);
  const auto against_others = [](std::vector<std::int64_t> times) {
    const std::int64_t first = times.front();
    times.erase(times.begin());
    return FirstIteration{.first_ns = first, .median_ns = std::max<std::int64_t>(1, median(std::move(times)))};
  };
  FirstIteration found = against_others(by_work ? std::move(between) : spans);
  found.by_work = by_work;
  found.index = *measured;
  found.next = *std::ranges::upper_bound(inside, *measured);
  found.span_ratio = against_others(std::move(spans)).ratio();
  return found;
}

}  // namespace ridge
