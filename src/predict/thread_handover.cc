// One walk over the waiting thread's starts and ends finds where it is silent; each worker's outermost slices are held against
// that.
#include "predict/thread_handover.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/interval_set.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

constexpr std::int64_t kShortestSilence = 10'000;  // ns: waking a thread takes that long

bool runs_backward(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.find("Backward") != std::string_view::npos;
}

struct Root {
  std::int64_t start_ns, end_ns;
  bool backward;
};

// The outermost slices of a thread, in order of time.
std::vector<Root> roots_of(const Trace& trace, const CallTree& tree, const HostThread& thread, const NameFlags& backward) {
  std::vector<Root> roots;
  for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
    if (tree.parent[n] != kNoNode) continue;
    roots.push_back({tree.start_ns[n], tree.end_ns[n], backward[trace.events.name(tree.event[n])]});
  }
  return roots;
}

// The stretches of a thread's time in which nothing of it starts or ends, but for those inside a call, which may wait for a
// device; in order.
std::vector<Interval> silences_of(const CallTree& tree, const HostThread& thread) {
  std::vector<Interval> silences;
  std::vector<std::uint32_t> open;
  std::optional<std::int64_t> last;
  const auto boundary = [&](std::int64_t time) {
    const bool in_call = !open.empty() && tree.event_class[open.back()] == EventClass::launch;
    if (last && time - *last >= kShortestSilence && !in_call) silences.push_back({*last, time});
    last = last ? std::max(*last, time) : time;
  };
  for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
    for (; !open.empty() && tree.end_ns[open.back()] <= tree.start_ns[n]; open.pop_back()) boundary(tree.end_ns[open.back()]);
    boundary(tree.start_ns[n]);
    open.push_back(n);
  }
  for (; !open.empty(); open.pop_back()) boundary(tree.end_ns[open.back()]);
  return silences;
}

// The roots [first, end) of a worker start in a silence of the main thread: none may reach out of it. A worker that is no
// autograd thread must fill most of the silence.
bool is_handed_over(const std::vector<Root>& roots, std::size_t first, std::size_t end, const Interval& silence) {
  if (first > 0 && roots[first - 1].end_ns > silence.start_ns) return false;
  if (roots[end - 1].end_ns > silence.end_ns) return false;
  return roots[first].backward || (roots[end - 1].end_ns - roots[first].start_ns) * 2 >= silence.length();
}

}  // namespace

std::vector<Handover> find_handovers(const Model& model, std::uint32_t main, const std::vector<std::uint32_t>& workers) {
  const CallTree& tree = model.tree();
  std::vector<Handover> found;
  if (workers.empty()) return found;
  const NameFlags backward(model.trace(), runs_backward);
  const std::vector<Interval> silences = silences_of(tree, tree.threads[main]);
  const auto silence_at = [&](std::int64_t time) -> const Interval* {
    const auto after = std::upper_bound(silences.begin(), silences.end(), time,
                                        [](std::int64_t t, const Interval& silence) { return t < silence.start_ns; });
    return after != silences.begin() && time < std::prev(after)->end_ns ? &*std::prev(after) : nullptr;
  };
  for (const std::uint32_t worker : workers) {
    const std::vector<Root> roots = roots_of(model.trace(), tree, tree.threads[worker], backward);
    for (std::size_t first = 0; first < roots.size();) {
      const Interval* silence = silence_at(roots[first].start_ns);
      std::size_t end = first + 1;
      while (silence != nullptr && end < roots.size() && roots[end].start_ns < silence->end_ns) ++end;
      if (silence != nullptr && is_handed_over(roots, first, end, *silence))
        found.push_back({main, worker, roots[first].start_ns, roots[end - 1].end_ns});
      first = end;
    }
  }
  return found;
}

std::vector<std::uint32_t> main_threads(const Model& model) {
  struct Candidate {
    std::int64_t marks = 0, launches = 0, slices = 0;
    std::uint32_t thread = 0;
    auto operator<=>(const Candidate&) const = default;
  };
  const Trace& trace = model.trace();
  const CallTree& tree = model.tree();
  const NameFlags backward(trace, runs_backward);
  const NameFlags marks(trace, [](std::string_view name) { return name.starts_with("ProfilerStep#"); });
  std::vector<bool> launches(tree.size());
  for (const NodeId call : model.links().launch) {
    if (call != kNoNode) launches[call.value] = true;
  }
  std::map<TrackPart, Candidate> best;
  for (std::uint32_t t = 0; t < tree.threads.size(); ++t) {
    const HostThread& thread = tree.threads[t];
    Candidate it{.slices = thread.count, .thread = t};
    bool in_backward = false;
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      const StringId name = trace.events.name(tree.event[n]);
      if (tree.parent[n] == kNoNode) in_backward = backward[name];
      if (launches[n] && !in_backward) ++it.launches;
      if (tree.event_class[n] == EventClass::annotation && marks[name]) ++it.marks;
    }
    Candidate& known = best[trace.forms.tracks()[thread.track.value].pid];
    if (known.slices == 0 || known < it) known = it;
  }
  std::vector<Candidate> chosen;
  for (const auto& [process, candidate] : best) chosen.push_back(candidate);
  const auto first = std::max_element(chosen.begin(), chosen.end());
  if (first != chosen.end()) std::rotate(chosen.begin(), first, first + 1);
  std::vector<std::uint32_t> threads;
  for (const Candidate& candidate : chosen) threads.push_back(candidate.thread);
  return threads;
}

}  // namespace ridge
