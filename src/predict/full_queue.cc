// Only long launches are looked at: of each, how much had been launched and had not ended when it was called.
#include "predict/full_queue.h"

#include <algorithm>
#include <string_view>

#include "model/name_flags.h"

namespace ridge {
namespace {

// Drivers hold about a thousand launches, and fewer with what else takes a place; nothing but that has so many outstanding.
constexpr std::int64_t kFullQueue = 500;
constexpr std::int64_t kLongLaunchNs = 50'000;  // a launch takes 2 to 10 us

}  // namespace

std::vector<std::uint32_t> launches_at_a_full_queue(const Model& model) {
  const Trace& trace = model.trace();
  const CallTree& tree = model.tree();
  const LaunchLinks& links = model.links();
  const std::span<const EventId> work = trace.of(EventClass::device_work);
  if (work.size() < static_cast<std::size_t>(kFullQueue)) return {};
  // A graph is one launch of many kernels, and takes the host as long as it is large.
  const NameFlags graphs(trace, [](std::string_view name) { return name.find("GraphLaunch") != std::string_view::npos; });
  const auto is_graph = [&](NodeId call) { return graphs[trace.events.name(tree.event[call.value])]; };
  std::vector<std::pair<std::int64_t, std::uint32_t>> calls;  // when, node
  for (std::size_t row = 0; row < work.size(); ++row) {
    const NodeId call = links.launch[row];
    if (call == kNoNode || call.value >= tree.recorded || tree.duration_ns(call) < kLongLaunchNs || is_graph(call)) continue;
    calls.emplace_back(tree.start_ns[call.value], call.value);
  }
  std::ranges::sort(calls);
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  if (calls.empty()) return {};
  // What was outstanding at each of them: one more from the first behind a launch, one less from the first behind its end.
  std::vector<std::int64_t> more(calls.size() + 1);
  const auto behind = [&](std::int64_t time_ns) {
    return static_cast<std::size_t>(std::ranges::upper_bound(calls, std::pair(time_ns, UINT32_MAX)) - calls.begin());
  };
  for (std::size_t row = 0; row < work.size(); ++row) {
    const NodeId call = links.launch[row];
    const bool known = call != kNoNode && call.value < tree.recorded;
    if (known ? is_graph(call) : !links.is_inherited(row)) continue;
    ++more[known ? behind(tree.start_ns[call.value]) : 0];
    --more[behind(trace.events.ts_ns(work[row]) + trace.events.dur_ns(work[row]).value_or(0))];
  }
  std::vector<std::uint32_t> out;
  std::int64_t outstanding = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    outstanding += more[i];
    if (outstanding >= kFullQueue) out.push_back(calls[i].second);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace ridge
