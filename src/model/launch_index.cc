// A hash index over correlations; and for devices, how well the launches of each process fit their work.
#include "model/launch_index.h"

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/saturating.h"
#include "base/work_count.h"

namespace ridge {
namespace {

std::uint64_t random_seed() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

TrackPart process_of(const Trace& trace, EventId event) { return trace.forms.tracks()[trace.track(event).value].pid; }

}  // namespace

LaunchIndex::LaunchIndex(const Trace& trace) : trace_(trace), seed_(random_seed()) {
  const LaunchTable table = launches(trace);
  entries_.reserve(table.events.size());
  for (const EventId event : table.events) {
    const auto correlation = table.correlation.integer(event);
    if (correlation && *correlation != 0 && trace.events.ts_ns(event) != kNoTime && trace.events.dur_ns(event))
      entries_.push_back({*correlation, event, kNone});
  }
  index();
  sort_if_crowded();
  shared_ = find_shared();
  if (!shared_ || sorted_.empty()) return;
  for (const Sorted& each : sorted_) of_process_[process_of(trace_, each.event)].push_back(each);
}

EventId LaunchIndex::find(std::int64_t correlation, std::int64_t start_ns, std::optional<TrackPart> process) const {
  if (!sorted_.empty()) {
    const auto own = process ? of_process_.find(*process) : of_process_.end();
    const EventId launch = own == of_process_.end() ? kNoEvent : find_in(own->second, correlation, start_ns);
    return launch != kNoEvent ? launch : find_in(sorted_, correlation, start_ns);
  }
  Best best, own;
  for (std::uint32_t i = first_[bucket(correlation)]; i != kNone; i = entries_[i].next) {
    count_work(1);
    if (entries_[i].correlation != correlation) continue;
    consider(entries_[i], start_ns, &best);
    if (process && process_of(trace_, entries_[i].event) == *process) consider(entries_[i], start_ns, &own);
  }
  return own.event != kNoEvent ? own.event : best.event;
}

// The latest that starts no later than the work; the earliest when all start later.
void LaunchIndex::consider(const Entry& entry, std::int64_t start_ns, Best* best) const {
  const std::int64_t start = trace_.events.ts_ns(entry.event);
  const bool first = best->event == kNoEvent;
  const bool best_is_late = !first && best->start_ns > start_ns;
  const bool better = start > start_ns ? best_is_late && start < best->start_ns : best_is_late || start >= best->start_ns;
  if (first || better) *best = {entry.event, start};
}

// A profiler counts correlations up: 16 neighbours share a line of the table. The seed keeps a file from choosing its
// collisions.
std::size_t LaunchIndex::bucket(std::int64_t correlation) const {
  const auto number = static_cast<std::uint64_t>(correlation);
  return ((mix64(number >> 4, seed_) << 4) | (number & 15)) & (first_.size() - 1);
}

void LaunchIndex::index() {
  first_.assign(std::bit_ceil(std::max<std::size_t>(entries_.size() * 2, 16)), kNone);
  for (std::size_t i = entries_.size(); i-- > 0;) {
    std::uint32_t& first = first_[bucket(entries_[i].correlation)];
    entries_[i].next = first;
    first = static_cast<std::uint32_t>(i);
  }
}

// Where one number is used again and again, chains would be walked again and again: all are sorted instead.
void LaunchIndex::sort_if_crowded() {
  std::vector<std::uint8_t> crowd(first_.size());
  for (const Entry& entry : entries_) {
    if (++crowd[bucket(entry.correlation)] < kMostInBucket) continue;
    for (const Entry& each : entries_) sorted_.push_back({each.correlation, trace_.events.ts_ns(each.event), each.event});
    std::sort(sorted_.begin(), sorted_.end());
    return;
  }
}

bool LaunchIndex::find_shared() const {
  for (std::size_t i = 1; i < sorted_.size(); ++i) {
    if (sorted_[i].correlation == sorted_[i - 1].correlation &&
        process_of(trace_, sorted_[i].event) != process_of(trace_, sorted_[i - 1].event))
      return true;
  }
  if (!sorted_.empty()) return false;
  const auto of_another = [&](const Entry& a, const Entry& b) {
    return process_of(trace_, a.event) != process_of(trace_, b.event);
  };
  const bool several = std::ranges::any_of(entries_, [&](const Entry& entry) { return of_another(entry, entries_.front()); });
  return several && std::ranges::any_of(entries_, [&](const Entry& entry) {
           for (std::uint32_t i = entry.next; i != kNone; i = entries_[i].next) {
             if (entries_[i].correlation == entry.correlation && of_another(entries_[i], entry)) return true;
           }
           return false;
         });
}

EventId LaunchIndex::find_in(const std::vector<Sorted>& sorted, std::int64_t correlation, std::int64_t start_ns) {
  const Sorted wanted{correlation, start_ns, kNoEvent};
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), wanted);
  count_work(std::bit_width(sorted.size()));
  if (after != sorted.begin() && (after - 1)->correlation == correlation) return (after - 1)->event;
  return after != sorted.end() && after->correlation == correlation ? after->event : kNoEvent;
}

DeviceOwners::DeviceOwners(const Trace& trace, const DeviceWorkTable& work, const LaunchIndex& index) {
  // What a process would have launched of a device's work, if it were its own.
  struct Fit {
    std::int64_t works = 0, too_late = 0, lag_ns = 0;
  };
  constexpr std::int64_t kClockNoiseNs = 10'000;
  constexpr std::int64_t kMostLookedAt = 4096;         // of a device's work
  constexpr std::int64_t kMostCompared = 20'000'000;   // launches with work, of all devices
  std::map<TrackPart, std::map<TrackPart, Fit>> fits;  // by device, by process
  std::map<TrackPart, std::int64_t> launched;          // by device: work that some process launched
  std::map<TrackPart, std::int64_t> nearest;           // by process: from its launch to the work
  std::int64_t compared = 0;
  for (const EventId event : work.events) {
    const auto correlation = work.correlation.integer(event);
    const std::int64_t start = trace.events.ts_ns(event);
    if (!correlation || start == kNoTime) continue;
    if (launched[process_of(trace, event)] >= kMostLookedAt || compared > kMostCompared) continue;
    nearest.clear();
    index.for_each(*correlation, [&](EventId launch) {
      ++compared;
      const std::int64_t lag = start - trace.events.ts_ns(launch);
      const auto [at, is_first] = nearest.try_emplace(process_of(trace, launch), lag);
      const bool closer = lag >= -kClockNoiseNs && (at->second < -kClockNoiseNs || lag < at->second);
      if (!is_first && closer) at->second = lag;
    });
    if (nearest.empty()) continue;
    const TrackPart device = process_of(trace, event);
    ++launched[device];
    for (const auto& [process, lag] : nearest) {
      Fit& fit = fits[device][process];
      ++fit.works;
      fit.too_late += lag < -kClockNoiseNs ? 1 : 0;
      saturating_add(&fit.lag_ns, std::max<std::int64_t>(0, lag));
    }
  }
  constexpr double kNearlyAll = 0.95;
  const auto may_own = [&](TrackPart device, const Fit& fit) {
    return static_cast<double>(fit.works - fit.too_late) >= kNearlyAll * static_cast<double>(launched[device]);
  };
  std::set<TrackPart> processes, owners;
  for (const auto& [device, by_process] : fits) {
    // Whose launches come behind the work least often; of several that never do, shortest before it.
    const std::pair<const TrackPart, Fit>* best = nullptr;
    for (const auto& each : by_process) {
      processes.insert(each.first);
      const Fit& fit = each.second;
      if (!may_own(device, fit)) continue;
      const auto order = [](const Fit& f) { return std::tuple(f.too_late, f.lag_ns / f.works); };
      if (best == nullptr || order(fit) < order(best->second)) best = &each;
    }
    if (best == nullptr) continue;
    process_.emplace(device, best->first);
    owners.insert(best->first);
  }
  // As many ranks as devices have one each. Where all launch long before their work, who launched last would have them all:
  // then they go in order, as launchers number both.
  if (fits.size() != processes.size() || owners.size() == fits.size()) return;
  std::map<TrackPart, TrackPart> in_order;
  auto process = processes.begin();
  for (const auto& [device, by_process] : fits) {
    const auto fit = by_process.find(*process);
    if (fit == by_process.end() || !may_own(device, fit->second)) return;
    in_order.emplace(device, *process++);
  }
  process_ = std::move(in_order);
}

std::optional<TrackPart> DeviceOwners::of(const Trace& trace, EventId work) const {
  if (process_.empty()) return std::nullopt;
  const auto found = process_.find(process_of(trace, work));
  return found == process_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ridge
