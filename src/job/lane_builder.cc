// One walk in the order of issue; the observed clocks of host, lane and streams go along with it.
#include "job/lane_builder.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/median.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 4;
constexpr std::int64_t kMostNs = std::numeric_limits<std::uint32_t>::max();
// What a host needs to go on after a collective of its own or a synchronisation.
constexpr std::int64_t kWakeNs = 200'000;
// A host that issues nothing for so long, and for so many times what a launch takes it, stands still.
constexpr std::int64_t kLeastPauseNs = 60'000, kPauseOfIssues = 4;
constexpr std::size_t kMostLookedAt = 256;       // collectives that end while one waits
constexpr std::int64_t kHostWakeNs = 3'000'000;  // of gloo: another thread has to be woken and copies its part

std::uint32_t fit(std::int64_t ns) { return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns, 0, kMostNs)); }
std::int32_t fit_lag(std::int64_t ns) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(ns, INT32_MIN / 2, INT32_MAX / 2));
}

class LaneBuilder {
 public:
  LaneBuilder(const RankWork& work, std::span<const std::uint32_t> hash_of) : work_(work), hash_of_(hash_of) {
    for (std::uint32_t i = 0; i < work.collectives.size(); ++i) ends_.push_back({work.collectives[i].end_ns, i});
    std::sort(ends_.begin(), ends_.end());
    measure_issue();
  }

  BuiltLane build() {
    if (work_.issued.empty() && work_.stalls.empty()) return {};
    host_ = first_time();
    lane_ = host_;
    built_.start_ns = host_;
    auto stall = work_.stalls.begin();
    for (const IssuedWork& work : work_.issued) {
      for (; stall != work_.stalls.end() && stall->end_ns <= work.issued_ns; ++stall) add_stall(*stall);
      host_waits_for_collective(work.issued_ns);
      if (work.collective != kNoCollective) {
        add_collective(work);
      } else {
        add_work(work);
      }
    }
    for (; stall != work_.stalls.end(); ++stall) add_stall(*stall);
    flush();
    return std::move(built_);
  }

 private:
  // What the host needs for one launch, and how long it must stand still for that to be told apart.
  void measure_issue() {
    std::vector<std::int64_t> intervals;
    for (std::size_t i = 1; i < work_.issued.size(); ++i) {
      if (work_.issued[i].launched && work_.issued[i - 1].launched)
        intervals.push_back(work_.issued[i].issued_ns - work_.issued[i - 1].issued_ns);
    }
    if (!intervals.empty()) issue_ns_ = median(std::move(intervals));
    least_pause_ns_ = std::max(kLeastPauseNs, kPauseOfIssues * std::min(issue_ns_, kMostNs));
  }

  std::int64_t first_time() const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    if (!work_.issued.empty()) first = std::min(work_.issued.front().issued_ns, work_.issued.front().start_ns);
    if (!work_.stalls.empty()) first = std::min(first, work_.stalls.front().start_ns);
    return first;
  }

  // The collective that ended last in (after, until] of those that the host has issued so far: what is issued now can wait for
  // no other. Of several that ended at one time the one that was issued last. Nothing when none did.
  const std::pair<std::int64_t, std::uint32_t>* last_end(std::int64_t after, std::int64_t until) const {
    const auto behind = std::upper_bound(ends_.begin(), ends_.end(), std::pair(until, UINT32_MAX));
    const std::pair<std::int64_t, std::uint32_t>* found = nullptr;
    std::size_t left = kMostLookedAt;
    for (auto it = behind; it != ends_.begin() && left > 0; --left) {
      --it;
      if (it->first <= after) break;
      if (it->second >= collectives_) continue;
      if (found == nullptr) {
        found = &*it;
        after = std::max(after, it->first - kClockSlackNs);
      } else if (it->second > found->second) {
        found = &*it;
      }
    }
    return found;
  }

  LaneItem& add(LaneItemKind kind) {
    LaneItem& item = built_.items.emplace_back();
    item.kind = kind;
    return item;
  }

  // Host time up to `until`, as part of the item that follows; what is too long for one goes before it.
  std::uint32_t host_until(std::int64_t until) {
    std::int64_t ns = std::max<std::int64_t>(0, until - host_);
    for (; ns > kMostNs; ns -= kMostNs) add(LaneItemKind::pause).host_ns = fit(kMostNs);
    host_ = std::max(host_, until);
    return fit(ns);
  }

  // A host that stands still before what it issues at `until`: an item of its own, so that it can be replayed without.
  void pause_until(std::int64_t until) {
    const std::int64_t from = run_.kernels > 0 ? std::max(host_, run_issued_) : host_;
    if (until - from < least_pause_ns_) return;
    flush();
    const std::uint32_t ns = host_until(until - issue_ns_);
    add(LaneItemKind::pause).host_ns = ns;
  }

  // Ends the run.
  void flush() {
    if (run_.kernels == 0) return;
    for (std::int64_t rest = device_ns_; rest > kMostNs; rest -= kMostNs) {
      add(LaneItemKind::run).device_ns = fit(kMostNs);
      device_ns_ -= kMostNs;
    }
    const std::int64_t begun = host_;
    run_.host_ns = host_until(run_issued_);
    run_.kind = LaneItemKind::run;
    run_.device_ns = fit(device_ns_);
    run_.late_launch_ns = fit(late_issue_ - begun);
    run_.late_rest_ns = fit(late_rest_);
    run_.kernel_ns = fit(kernel_ns_);
    built_.items.push_back(run_);
    run_ = {};
    device_ns_ = late_rest_ = kernel_ns_ = 0;
    late_issue_ = kNever;
  }

  void rest(std::int64_t from, std::int64_t until, LaneIdle cause) {
    if (until > from) built_.rests.push_back({from, until - from, cause});
  }

  // Of a gap of the lane that the host made: part of it the loader's, part a synchronisation's.
  void rest_of_host(std::int64_t from, std::int64_t until) {
    const auto first =
        std::partition_point(work_.stalls.begin(), work_.stalls.end(), [&](const RankStall& s) { return s.end_ns <= from; });
    for (auto stall = first; stall != work_.stalls.end() && stall->start_ns < until; ++stall) {
      rest(from, std::min(stall->start_ns, until), LaneIdle::launch);
      const std::int64_t begin = std::max(from, stall->start_ns), end = std::min(until, stall->end_ns);
      rest(begin, end, stall->loader ? LaneIdle::loader : LaneIdle::sync);
      from = std::max(from, end);
    }
    rest(from, until, LaneIdle::launch);
  }

  void add_work(const IssuedWork& work) {
    if (work.launched) pause_until(work.issued_ns);
    const std::int64_t gap = work.start_ns - lane_;
    bool held_by_host = false;
    std::int64_t delay = 0;
    if (gap > 0) {
      const auto* ended = last_end(lane_, work.start_ns + kClockSlackNs);
      const std::int64_t issued = work.launched ? work.issued_ns : kNever;
      if (ended != nullptr && ended->first > issued && work.start_ns - ended->first <= kStartLagNs) {
        flush();
        add(LaneItemKind::wait).target = ended->second;
        delay = std::max<std::int64_t>(0, work.start_ns - ended->first);
        rest(lane_, work.start_ns, LaneIdle::collective);
      } else if (issued > lane_ - kClockSlackNs) {
        held_by_host = true;
        rest_of_host(lane_, work.start_ns);
      } else if (ended != nullptr && gap > kStartLagNs) {  // behind others that the collective's end let go
        flush();
        add(LaneItemKind::wait).target = ended->second;
        delay = std::max<std::int64_t>(0, work.start_ns - ended->first);
        rest(lane_, work.start_ns, LaneIdle::collective);
      } else {
        delay = gap;
        rest(lane_, work.start_ns, LaneIdle::other);
      }
    }
    const std::int64_t adds = std::max<std::int64_t>(0, work.end_ns - std::max(lane_, work.start_ns));
    if (run_.kernels == 0) run_issued_ = host_;
    const std::int64_t issued = held_by_host ? std::max(work.start_ns, work.issued_ns) : work.issued_ns;
    late_rest_ += delay + adds;
    if (work.launched && issued + adds > late_issue_ + late_rest_) {
      late_issue_ = issued;
      late_rest_ = adds;
    }
    if (late_issue_ == kNever) late_rest_ = 0;
    device_ns_ += delay + adds;
    saturating_add(&kernel_ns_, work.end_ns - work.start_ns);
    ++run_.kernels;
    run_.work_hash += hash_of_[work.row];
    if (work.launched) run_issued_ = std::max(run_issued_, work.issued_ns);
    lane_ = std::max(lane_, work.end_ns);
  }

  void add_collective(const IssuedWork& work) {
    flush();
    pause_until(work.issued_ns);
    const auto [stream, is_new] = streams_.try_emplace(work.stream, Stream{streams_.size(), kNever});
    LaneItem item;
    item.kind = LaneItemKind::collective;
    item.stream = static_cast<std::uint8_t>(std::min<std::size_t>(stream->second.index, 255));
    item.target = work.collective;
    item.host_ns = host_until(work.issued_ns);
    item.after_lane = work.start_ns >= lane_ - kClockSlackNs;
    std::int64_t ready = std::max(work.issued_ns, stream->second.end_ns);
    if (item.after_lane) ready = std::max(ready, lane_);
    std::int64_t lag = work.start_ns - ready;
    // Held up by a collective of another stream, which whoever issued both let it wait for.
    const auto* ended = lag > kClockSlackNs ? last_end(ready, work.start_ns + kClockSlackNs) : nullptr;
    const bool held = ended != nullptr && ended->second != work.collective && work.start_ns - ended->first <= kStartLagNs;
    if (held) {
      add(LaneItemKind::after).target = ended->second;
      lag = std::max<std::int64_t>(0, work.start_ns - ended->first);
      item.ahead = !item.after_lane;
      item.after_lane = true;
      item.lag_ns = fit_lag(item.ahead ? work.start_ns - lane_ : lag);
    } else if (!item.after_lane && lag > kStartLagNs) {
      item.after_lane = item.ahead = true;  // it waited for work that was issued earlier
      item.lag_ns = fit_lag(work.start_ns - lane_);
    } else {
      item.lag_ns = fit_lag(lag);
    }
    built_.items.push_back(item);
    stream->second.end_ns = std::max(stream->second.end_ns, work.end_ns);
    collectives_ = work.collective + 1;
  }

  // Behind a collective that runs on the host, it goes on when that has ended.
  void host_waits_for_collective(std::int64_t until) {
    const std::int64_t from = run_.kernels > 0 ? std::max(host_, run_issued_) : host_;
    if (until - from < kClockSlackNs) return;
    const auto* ended = last_end(from, until);
    if (ended == nullptr || !work_.collectives[ended->second].on_host || until - ended->first > kHostWakeNs) return;
    flush();
    LaneItem& item = add(LaneItemKind::sync);
    item.target = ended->second;
    host_ = ended->first;
  }

  void add_stall(const RankStall& stall) {
    const std::int64_t from = std::max(stall.start_ns, run_.kernels > 0 ? std::max(host_, run_issued_) : host_);
    if (stall.end_ns - from < kClockSlackNs) return;  // others issued meanwhile
    flush();
    pause_until(from);
    if (stall.loader) {
      const std::uint32_t before = host_until(from);
      std::int64_t length = stall.end_ns - from;
      LaneItem& item = add(LaneItemKind::loader);
      item.host_ns = before;
      item.device_ns = fit(length);
      host_ = stall.end_ns;
      for (length -= kMostNs; length > 0; length -= kMostNs) add(LaneItemKind::loader).device_ns = fit(length);
      return;
    }
    // What the host waited for: the work issued so far, or a collective.
    std::int64_t done = lane_ > from && lane_ <= stall.end_ns + kClockSlackNs ? lane_ : kNever;
    std::uint32_t target = kNoCollective;
    const auto* ended = last_end(std::max(from, done), stall.end_ns + kClockSlackNs);
    if (ended != nullptr) done = ended->first, target = ended->second;
    if (done == kNever || stall.end_ns - done > kWakeNs) return;  // plain host time
    LaneItem item;
    item.kind = LaneItemKind::sync;
    item.host_ns = host_until(from);
    item.target = target;
    item.lag_ns = fit_lag(std::max<std::int64_t>(0, stall.end_ns - done));
    built_.items.push_back(item);
    host_ = std::max(host_, stall.end_ns);
  }

  struct Stream {
    std::size_t index;
    std::int64_t end_ns;
  };

  const RankWork& work_;
  const std::span<const std::uint32_t> hash_of_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> ends_;  // of collectives, with their indexes
  std::unordered_map<std::int64_t, Stream> streams_;
  BuiltLane built_;
  std::uint32_t collectives_ = 0;  // issued so far
  std::int64_t host_ = 0;          // when the last item was issued
  std::int64_t lane_ = 0;          // when the lane's work so far is done
  std::int64_t issue_ns_ = 0, least_pause_ns_ = kLeastPauseNs;
  LaneItem run_;  // the one being made: its counts; the rest follows
  std::int64_t run_issued_ = 0;
  std::int64_t device_ns_ = 0, kernel_ns_ = 0;
  std::int64_t late_issue_ = kNever, late_rest_ = 0;
};

}  // namespace

BuiltLane build_lane(const RankWork& work, std::span<const std::uint32_t> hash_of) {
  return LaneBuilder(work, hash_of).build();
}

}  // namespace ridge
