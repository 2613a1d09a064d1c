// Rounds shares at the borders between them, so that the parts add up to the whole.
#include "analysis/diff/totals.h"

#include <algorithm>
#include <utility>

#include "analysis/gpu/gpu.h"
#include "analysis/launches/launches.h"
#include "base/interval_set.h"
#include "base/saturating.h"
#include "facts/iteration_time.h"
#include "facts/scope_diagnostics.h"
#include "facts/scoped_work.h"

namespace ridge::diff {
namespace {

std::int64_t per_iteration(std::int64_t total, std::int64_t iterations) {
  return total / iterations + (total % iterations * 2 >= iterations ? 1 : 0);
}

// What the iterations of the scope take. In a stretch of time that holds no whole one, the whole window.
IterationTime time_of(const Scope& scope) {
  if (!scope.by_time()) return iteration_time(scope);
  IterationTime whole;
  whole.spans = IntervalSet({{scope.window().start_ns, scope.window().end_ns}});
  return whole;
}

using IdleTimes = std::array<std::int64_t, kIdleCauses>;

// Pieces and spans both ascend.
void add_idle_in(std::span<const Interval> spans, const DeviceIdle& idle, IdleTimes* times) {
  std::size_t first = 0;  // span that does not end before the piece begins
  for (const IdlePiece& piece : idle.pieces) {
    while (first < spans.size() && spans[first].end_ns <= piece.start_ns) ++first;
    for (std::size_t s = first; s < spans.size() && spans[s].start_ns < piece.end_ns; ++s) {
      const std::int64_t from = std::max(spans[s].start_ns, piece.start_ns), to = std::min(spans[s].end_ns, piece.end_ns);
      saturating_add(&(*times)[static_cast<std::size_t>(piece.cause)], to - from);
    }
  }
}

// Divides what adds up to a whole, so that the rounded parts add up to the rounded whole: the borders between them are rounded.
class EvenShares {
 public:
  explicit EvenShares(std::int64_t divisor) : divisor_(divisor) {}

  std::int64_t next(std::int64_t part) {
    sum_ += part;
    const auto border = static_cast<std::int64_t>((2 * sum_ + divisor_) / (2 * divisor_));
    return border - std::exchange(last_, border);
  }

 private:
  __extension__ using Wide = __int128;
  Wide divisor_, sum_ = 0;
  std::int64_t last_ = 0;
};

// Wall time is busy time and idle time, of several devices their mean: all are measured over the same spans.
void add_time(const Scope& scope, SideTotals& out) {
  const IterationTime time = time_of(scope);
  out.wall_ns = per_iteration(time.total_ns(), out.iterations);
  out.median_wall_ns = time.median_ns;
  IdleTimes idle{};
  std::int64_t devices = 0;
  const std::vector<Device>& all = scope.model().timeline().devices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!scope.has_device(all[i].id)) continue;
    ++devices;
    const auto pieces = scope.idle();
    add_idle_in(time.spans.intervals(), (*pieces)[i], &idle);
    if (out.device.empty()) out.device = device_name(scope.model(), all[i].id);
  }
  out.devices = devices;
  out.has_device = devices > 0;
  if (!out.has_device) return;
  EvenShares shares(out.iterations * devices);
  for (std::size_t c = 0; c < kIdleCauses; ++c) {
    out.idle_by_cause_ns[c] = shares.next(idle[c]);
    saturating_add(&out.idle_ns, out.idle_by_cause_ns[c]);
  }
  out.busy_ns = out.wall_ns - out.idle_ns;
}

void add_launches(const Scope& scope, SideTotals& out) {
  const auto iterations = static_cast<double>(out.iterations);
  double host = 0, calls = 0;
  for (const DeviceLaunches& device : compute_launches(scope).devices) {
    out.launches += static_cast<double>(device.calls) / iterations;
    out.graph_launches += static_cast<double>(device.from_graphs) / iterations;
    if (device.host_ns_per_launch) {
      host += *device.host_ns_per_launch * static_cast<double>(device.calls);
      calls += static_cast<double>(device.calls);
    }
  }
  if (calls > 0) out.host_ns_per_launch = host / calls;
}

void add_rates(const Scope& scope, SideTotals& out) {
  double flops = 0, bytes = 0, costed = 0, all = 0, flops_ns = 0, bytes_ns = 0;
  bool any_flops = false, all_flops = true, any_bytes = false;
  const LaunchLinks& links = scope.model().links();
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    if (links.is_inherited(work.row)) return;  // of an iteration before the first recorded one
    const LaunchCost& cost = scope.costs()[work.row];
    const auto time = static_cast<double>(duration_ns(work));
    all += time;
    if (cost.flops || cost.bytes_read || cost.bytes_written) costed += time;
    if (cost.flops) {
      any_flops = true;
      flops += *cost.flops;
      flops_ns += time;
    } else {
      all_flops = false;
    }
    if (cost.bytes_read || cost.bytes_written) {
      any_bytes = true;
      bytes += cost.bytes_read.value_or(0) + cost.bytes_written.value_or(0);
      bytes_ns += time;
    }
  });
  const auto iterations = static_cast<double>(out.iterations);
  // Pointwise work has none. Where that is all that is known, how many there are is not.
  any_flops = any_flops && (flops > 0 || all_flops);
  if (any_flops) out.flops = flops / iterations;
  if (any_bytes) out.bytes = bytes / iterations;
  if (any_flops && flops_ns > 0) out.flops_per_s = flops / (flops_ns * 1e-9);
  if (any_bytes && bytes_ns > 0) out.bytes_per_s = bytes / (bytes_ns * 1e-9);
  if (all > 0) out.costed_pct = 100 * costed / all;
}

}  // namespace

SideTotals compute_totals(const Scope& scope, const TypicalIteration& iteration) {
  SideTotals out;
  out.iterations = std::max<std::int64_t>(1, iteration.iterations);
  out.time_range = scope.by_time();
  out.per = out.time_range ? "time_range" : name_of(scope.model().iterations().rule);
  out.folded_ns = iteration.folded_ns;
  out.has_host_events = scope.model().tree().recorded > 0;
  out.cut_short = is_cut_short(scope.trace());
  out.gpu_time = {iteration.gpu_time.count, 0, iteration.gpu_time.variance()};
  add_time(scope, out);
  add_launches(scope, out);
  add_rates(scope, out);
  return out;
}

void add_device_time(const TypicalIteration& t, SideTotals& out) {
  for (const Position& position : t.positions) {
    for (const SlotTime& slot : position.slots) {
      const auto category = static_cast<std::size_t>(slot.category);
      const double count = static_cast<double>(slot.launches) /
                           static_cast<double>(std::max<std::int64_t>(1, t.iterations + slot.extra_iterations));
      saturating_add(&out.gpu_ns, slot.per_iteration_ns);
      saturating_add(&out.category_ns[category], slot.per_iteration_ns);
      out.category_count[category] += count;
      out.work += count;
    }
  }
  out.gpu_time.mean = static_cast<double>(out.gpu_ns);
}

}  // namespace ridge::diff
