// IterationTime: what an iteration of a scope takes, the one figure that findings, summary, gaps and diff divide and compare
// by.
//
// It is the mean over the iterations, because parts of the time add up to means; the median stands beside it under its own
// name. The time is that of the iterations' spans (model/iteration_spans.h) within the scope's window: idle or busy, all of it
// is of an iteration, and what lies outside of them, such as the recording's own start and end, is of none.
// Where the window was cut into iterations, what held the host up before the first work and behind the last (a batch, a
// compilation, the allocator) is the first iteration's and the last one's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval_set.h"
#include "facts/scope.h"

namespace ridge {

struct IterationTime {
  IterationRule rule = IterationRule::whole_window;
  std::int64_t count = 0;                       // iterations of the scope
  IntervalSet spans;                            // of the scope's window; the whole of it where no iteration lies in it
  std::int64_t begins_ns = 0;                   // the first span's start, without what held the host up before
  std::vector<std::int64_t> durations_ns = {};  // of each, with what held the host up
  std::optional<std::int64_t> median_ns;

  std::int64_t divisor() const { return count > 0 ? count : 1; }
  std::int64_t total_ns() const { return spans.length(); }
  std::int64_t mean_ns() const { return per_iteration(total_ns()); }
  // Rounded to the nearest.
  std::int64_t per_iteration(std::int64_t total) const {
    return total / divisor() + (total % divisor() * 2 >= divisor() ? 1 : 0);
  }
};

IterationTime iteration_time(const Scope& scope);

}  // namespace ridge
