// Which clock each trace has, where one of unknown clock goes, and which traces stand too far apart.
#include "job/clocks.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"

namespace ridge {
namespace {

// Clocks further apart than this (73 years: the epoch and today are nearer) are of no one job; sums of times stay far from
// overflow.
constexpr std::int64_t kFurthestApartNs = std::int64_t{1} << 61;
// Times from here on (2001) without a base time count from the epoch. Smaller ones count from a start that nobody wrote down:
// that of the machine, or of the quarter of a year, to which Kineto rounds its base time down.
constexpr std::int64_t kSurelyEpochNs = 1'000'000'000'000'000'000;
// Ranks of a job record at one time, by clocks that differ by seconds at most.
constexpr std::int64_t kOneRecordingNs = 60'000'000'000;

// The times of a trace count from its base time, from the epoch, or from nobody knows where.
bool counts_from_epoch(const TraceClock& trace) {
  return !trace.base_time_ns && trace.window && trace.window->start_ns >= kSurelyEpochNs;
}

bool has_known_clock(const TraceClock& trace) { return trace.base_time_ns || counts_from_epoch(trace); }

// How long lies between two windows, each as its own trace has it; 0 where they overlap.
std::int64_t gap_between(const TimeRange& a, const TimeRange& b) {
  std::int64_t gap = 0;
  const std::int64_t later = std::max(a.start_ns, b.start_ns), earlier_end = std::min(a.end_ns, b.end_ns);
  if (__builtin_sub_overflow(later, earlier_end, &gap)) return INT64_MAX;
  return std::max<std::int64_t>(0, gap);
}

// Where a trace of unknown clock goes: it keeps company with the trace among whose times its own lie (they count from one
// start, as those of ranks do, whose base Kineto rounds to the same quarter), else it begins with the earliest.
void place_unknown(std::span<const TraceClock> traces, std::size_t i, const std::vector<std::size_t>& placed,
                   AlignedClocks* clocks) {
  const TimeRange& own = *traces[i].window;
  std::optional<std::size_t> nearest;
  std::optional<std::int64_t> start;
  for (const std::size_t other : placed) {
    const std::int64_t gap = gap_between(own, *traces[other].window);
    if (gap <= kOneRecordingNs && (!nearest || gap < gap_between(own, *traces[*nearest].window))) nearest = other;
    std::int64_t begins = traces[other].window->start_ns;
    saturating_add(&begins, clocks->add_ns[other]);
    start = std::min(start.value_or(begins), begins);
  }
  std::int64_t& add_ns = clocks->add_ns[i];
  if (nearest) {
    add_ns = clocks->add_ns[*nearest];
  } else if (start && __builtin_sub_overflow(*start, own.start_ns, &add_ns)) {
    add_ns = 0;
  }
  clocks->unknown.push_back({traces[i].name, !nearest && add_ns != 0});
}

// Windows on the common clock that stand apart from all before them.
std::vector<FarTrace> find_far_apart(std::span<const TraceClock> traces, const std::vector<std::int64_t>& add_ns) {
  std::vector<std::pair<TimeRange, std::string>> windows;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!has_known_clock(traces[i]) || !traces[i].window) continue;
    TimeRange& window = windows.emplace_back(*traces[i].window, traces[i].name).first;
    saturating_add(&window.start_ns, add_ns[i]);
    saturating_add(&window.end_ns, add_ns[i]);
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const auto& a, const auto& b) { return a.first.start_ns < b.first.start_ns; });
  std::vector<FarTrace> far;
  for (std::size_t i = 1; i < windows.size(); ++i) {
    TimeRange& window = windows[i].first;
    const TimeRange& before = windows[i - 1].first;
    window.end_ns = std::max(window.end_ns, before.end_ns);  // the last end so far
    std::int64_t gap = 0;
    if (__builtin_sub_overflow(window.start_ns, before.end_ns, &gap)) gap = INT64_MAX;
    if (gap > kOneRecordingNs) far.push_back({windows[i].second, gap});
  }
  return far;
}

}  // namespace

TraceClock clock_of(const Trace& trace, std::string name) {
  return {std::move(name), trace.metadata.base_time_ns, trace.window};
}

Result<AlignedClocks> align_clocks(std::span<const TraceClock> traces) {
  AlignedClocks clocks;
  clocks.add_ns.resize(traces.size());
  for (const TraceClock& trace : traces) {
    if (!trace.base_time_ns) continue;
    clocks.base_time_ns = std::min(clocks.base_time_ns.value_or(*trace.base_time_ns), *trace.base_time_ns);
  }
  const std::int64_t base = clocks.base_time_ns.value_or(0);
  std::vector<std::size_t> placed;  // traces with a window, on the common clock
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!has_known_clock(traces[i])) continue;
    std::int64_t& add = clocks.add_ns[i];
    if (__builtin_sub_overflow(traces[i].base_time_ns.value_or(0), base, &add) || add > kFurthestApartNs ||
        add < -kFurthestApartNs) {
      return fail(ErrorCode::usage, "the clocks of the inputs are too far apart", traces[i].name,
                  "check its baseTimeNanoseconds: the inputs cannot come from one job");
    }
    if (traces[i].window) placed.push_back(i);
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (has_known_clock(traces[i]) || !traces[i].window) continue;
    place_unknown(traces, i, placed, &clocks);
    placed.push_back(i);
  }
  clocks.far_apart = find_far_apart(traces, clocks.add_ns);
  return clocks;
}

}  // namespace ridge
