// Spans cut to the window. With --from and --to, iterations that the window cuts count with what is in it.
#include "facts/iteration_time.h"

#include <algorithm>
#include <vector>

#include "base/median.h"

namespace ridge {

IterationTime iteration_time(const Scope& scope) {
  IterationTime out;
  const Iterations& iterations = scope.model().iterations();
  const TimeRange window = scope.window();
  const std::vector<std::size_t> inside = scope.iterations();
  out.rule = iterations.rule;
  out.count = static_cast<std::int64_t>(inside.size());
  std::vector<Interval> spans;
  std::vector<std::int64_t> durations;
  for (std::size_t i = 0; i < iterations.list.size(); ++i) {
    const bool counts = std::binary_search(inside.begin(), inside.end(), i);
    if (!counts && !scope.by_time()) continue;
    const TimeRange span = iterations.list[i].span;
    const Interval cut{std::max(span.start_ns, window.start_ns), std::min(span.end_ns, window.end_ns)};
    if (cut.length() > 0) spans.push_back(cut);
    if (counts) durations.push_back(std::max<std::int64_t>(0, cut.length()));
  }
  if (spans.empty()) spans.push_back({window.start_ns, window.end_ns});
  out.spans = IntervalSet(std::move(spans));
  if (!durations.empty()) out.median_ns = median(std::move(durations));
  return out;
}

}  // namespace ridge
