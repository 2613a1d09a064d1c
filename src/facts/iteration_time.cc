// Spans cut to the window, and at its ends what held the host up. With --from and --to, iterations that the window cuts are
// left out, as by what replays a step: parts of them divided by a count of whole ones would be no mean. Where it holds no whole
// one, what is in it counts.
#include "facts/iteration_time.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/median.h"
#include "model/iteration_spans.h"

namespace ridge {
namespace {

// Starting and stopping the workers that fetch data is done once; a batch is waited for in every iteration.
bool is_done_once(const Scope& scope, const IdlePiece& piece) {
  if (piece.cause != IdleCause::dataloader || piece.node == kNoNode) return false;
  const CallTree& tree = scope.model().tree();
  const std::string_view name = scope.trace().text(scope.trace().events.name(tree.event[piece.node.value]));
  return tree.class_of(piece.node) == EventClass::python_frame && !name.ends_with(": __next__");
}

// Before the first work of a device and behind its last: what `gaps` finds a cause for.
std::vector<Interval> held_up_at_the_ends(const Scope& scope) {
  std::vector<Interval> times;
  for (const DeviceIdle& idle : split_idle_at_the_ends(scope.model(), scope.window())) {
    if (!scope.has_device(idle.device)) continue;
    for (const IdlePiece& piece : idle.pieces) {
      if (piece.cause != IdleCause::head_tail && !is_done_once(scope, piece)) times.push_back({piece.start_ns, piece.end_ns});
    }
  }
  return times;
}

}  // namespace

IterationTime iteration_time(const Scope& scope) {
  IterationTime out;
  const Iterations& iterations = scope.model().iterations();
  const TimeRange window = scope.window();
  const Scope whole = scope.of_whole_iterations();
  const bool cut_too = whole.by_time();  // it holds none
  const std::vector<std::size_t> inside = whole.iterations();
  out.rule = iterations.rule;
  out.count = static_cast<std::int64_t>(inside.size());
  std::vector<Interval> spans;
  std::vector<std::int64_t>& durations = out.durations_ns;
  for (std::size_t i = 0; i < iterations.list.size(); ++i) {
    const bool counts = std::binary_search(inside.begin(), inside.end(), i);
    if (!counts && !cut_too) continue;
    const TimeRange span = iterations.list[i].span;
    const Interval cut{std::max(span.start_ns, window.start_ns), std::min(span.end_ns, window.end_ns)};
    if (cut.length() > 0) spans.push_back(cut);
    if (counts) durations.push_back(std::max<std::int64_t>(0, cut.length()));
  }
  if (spans.empty()) spans.push_back({window.start_ns, window.end_ns});
  out.spans = IntervalSet(std::move(spans));
  if (!out.spans.empty()) out.begins_ns = out.spans.intervals().front().start_ns;
  if (are_cut(iterations)) {
    const IntervalSet ends = subtract(IntervalSet(held_up_at_the_ends(scope)), out.spans);
    for (const Interval& time : ends.intervals()) {
      if (!durations.empty()) (time.start_ns < out.begins_ns ? durations.front() : durations.back()) += time.length();
    }
    out.spans = unite(out.spans, ends);
  }
  if (!durations.empty()) out.median_ns = median(durations);
  return out;
}

}  // namespace ridge
