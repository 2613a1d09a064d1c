// A list of ranks that can go on; each goes on until both its cursors are blocked.
#include "job/replay.h"

#include <algorithm>
#include <deque>

namespace ridge {
namespace {

constexpr std::int64_t kNotYet = INT64_MIN;
constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::int64_t kMostForced = 4096;  // more is no recording of a job

// A collective in its stream: begun when what is before it has ended and it is ready.
struct Queued {
  std::uint32_t item = 0;
  std::int64_t ready_ns = kNotYet;
  std::int64_t lag_ns = 0;
};

struct StreamState {
  std::deque<Queued> queue;
  std::int64_t end_ns = INT64_MIN / 2;
  bool in_flight = false;  // the front of the queue has begun
};

struct RankState {
  std::span<const LaneItem> items;
  std::uint32_t host_at = 0, lane_at = 0;
  std::int64_t host_ns = 0, lane_ns = 0;
  std::int64_t after_ns = kNotYet;  // what the next collective has to wait for
  std::deque<std::int64_t> issued;  // when the host came to the items between the cursors
  std::vector<StreamState> streams;
  bool listed = false;
};

class JobPlayer {
 public:
  JobPlayer(const Job& job, const JobChanges& changes)
      : job_(job),
        changes_(changes),
        begun_(job.meetings.size()),
        latest_(job.meetings.size(), INT64_MIN / 2),
        end_(job.meetings.size(), kNotYet),
        ranks_(job.ranks.size()) {}

  JobReplay play() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      RankState& rank = ranks_[r];
      const auto changed = changes_.items.find(r);
      rank.items = changed == changes_.items.end() ? std::span<const LaneItem>(job_.ranks[r].digest->items) : changed->second;
      rank.host_ns = rank.lane_ns = job_.ranks[r].common(job_.ranks[r].digest->start_ns);
      list(r);
    }
    do {
      while (!work_.empty()) {
        const std::uint32_t r = work_.back();
        work_.pop_back();
        ranks_[r].listed = false;
        go_on(r);
      }
    } while (force_one());
    const bool alone = std::ranges::none_of(job_.ranks, &JobRank::aligned);  // no two on one clock
    JobReplay replay;
    replay.forced = forced_;
    replay.end_ns = INT64_MIN;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankState& rank = ranks_[r];
      std::int64_t end = std::max(rank.host_ns, rank.lane_ns);
      for (const StreamState& stream : rank.streams) end = std::max(end, stream.end_ns);
      replay.rank_end_ns.push_back(end);
      if (job_.ranks[r].aligned || alone) replay.end_ns = std::max(replay.end_ns, end);
    }
    return replay;
  }

 private:
  void list(std::uint32_t r) {
    if (ranks_[r].listed) return;
    ranks_[r].listed = true;
    work_.push_back(r);
  }

  std::uint32_t meeting_of(std::uint32_t r, const LaneItem& item) const { return job_.meeting_of[r][item.target]; }

  std::int64_t transfer_of(std::uint32_t m) const {
    if (changes_.transfer_ns.empty()) return job_.meetings[m].transfer_ns;
    const auto changed = changes_.transfer_ns.find(m);
    return changed == changes_.transfer_ns.end() ? job_.meetings[m].transfer_ns : changed->second;
  }

  void go_on(std::uint32_t r) {
    for (bool moved = true; moved;) {
      moved = host_goes_on(r);
      moved = lane_goes_on(r) || moved;
    }
  }

  bool host_goes_on(std::uint32_t r) {
    RankState& rank = ranks_[r];
    const std::uint32_t from = rank.host_at;
    for (; rank.host_at < rank.items.size(); ++rank.host_at) {
      const LaneItem& item = rank.items[rank.host_at];
      std::int64_t at = rank.host_ns;
      switch (item.kind) {
        case LaneItemKind::run:
        case LaneItemKind::pause: rank.host_ns += item.host_ns; break;
        case LaneItemKind::loader: rank.host_ns += static_cast<std::int64_t>(item.host_ns) + item.device_ns; break;
        case LaneItemKind::wait:
        case LaneItemKind::after: break;
        case LaneItemKind::collective:
          at = rank.host_ns += item.host_ns;
          enqueue(r, rank.host_at, item.after_lane ? kNotYet : at);
          break;
        case LaneItemKind::sync: {
          std::int64_t done = rank.lane_ns;
          if (item.target == kNoCollective) {
            if (rank.lane_at < rank.host_at) return rank.host_at != from;
          } else {
            done = end_[meeting_of(r, item)];
            if (done == kNotYet) return rank.host_at != from;
          }
          rank.host_ns = std::max(rank.host_ns + item.host_ns, done) + item.lag_ns;
          break;
        }
      }
      rank.issued.push_back(at);
    }
    return rank.host_at != from;
  }

  bool lane_goes_on(std::uint32_t r) {
    RankState& rank = ranks_[r];
    const std::uint32_t from = rank.lane_at;
    for (; rank.lane_at < rank.host_at; ++rank.lane_at, rank.issued.pop_front()) {
      const LaneItem& item = rank.items[rank.lane_at];
      const std::int64_t issued = rank.issued.front();
      if (item.kind == LaneItemKind::run) {
        const std::int64_t by_host = issued + item.late_launch_ns + item.late_rest_ns;
        rank.lane_ns = std::max(rank.lane_ns + item.device_ns, by_host);
      } else if (item.kind == LaneItemKind::wait) {
        const std::int64_t end = end_[meeting_of(r, item)];
        if (end == kNotYet) break;
        rank.lane_ns = std::max(rank.lane_ns, end);
      } else if (item.kind == LaneItemKind::after) {
        rank.after_ns = end_[meeting_of(r, item)];
        if (rank.after_ns == kNotYet) break;
      } else if (item.kind == LaneItemKind::collective && item.after_lane) {
        ready(r, rank.lane_at, std::max({issued, rank.after_ns, rank.lane_ns + (item.ahead ? item.lag_ns : 0)}));
        rank.after_ns = kNotYet;
      }
    }
    return rank.lane_at != from;
  }

  void enqueue(std::uint32_t r, std::uint32_t i, std::int64_t ready_ns) {
    RankState& rank = ranks_[r];
    const LaneItem& item = rank.items[i];
    if (item.stream >= rank.streams.size()) rank.streams.resize(item.stream + std::size_t{1});
    rank.streams[item.stream].queue.push_back({i, ready_ns, item.ahead ? 0 : item.lag_ns});
    pump(r, item.stream);
  }

  void ready(std::uint32_t r, std::uint32_t i, std::int64_t ready_ns) {
    RankState& rank = ranks_[r];
    StreamState& stream = rank.streams[rank.items[i].stream];
    for (Queued& queued : stream.queue) {
      if (queued.item != i) continue;
      queued.ready_ns = ready_ns;
      break;
    }
    pump(r, rank.items[i].stream);
  }

  void pump(std::uint32_t r, std::uint8_t s) {
    StreamState& stream = ranks_[r].streams[s];
    if (stream.in_flight || stream.queue.empty() || stream.queue.front().ready_ns == kNotYet) return;
    stream.in_flight = true;
    const Queued& front = stream.queue.front();
    const std::uint32_t m = meeting_of(r, ranks_[r].items[front.item]);
    begin(m, std::max(front.ready_ns, stream.end_ns) + front.lag_ns);
  }

  void begin(std::uint32_t m, std::int64_t at) {
    latest_[m] = std::max(latest_[m], at);
    if (end_[m] != kNotYet) {  // let go before
      settle(m);
      return;
    }
    if (++begun_[m] == job_.meetings[m].count) finish(m);
  }

  void finish(std::uint32_t m) {
    end_[m] = latest_[m] + transfer_of(m);
    settle(m);
  }

  // The streams that the collective has ended in go on, and so do who waited for it.
  void settle(std::uint32_t m) {
    for (const Attendant& a : job_.attendants_of(job_.meetings[m])) {
      RankState& rank = ranks_[a.rank];
      for (std::size_t s = 0; s < rank.streams.size(); ++s) {
        StreamState& stream = rank.streams[s];
        if (!stream.in_flight || rank.items[stream.queue.front().item].target != a.collective) continue;
        stream.in_flight = false;
        stream.end_ns = std::max(stream.end_ns, end_[m]);
        stream.queue.pop_front();
        later_.push_back({a.rank, static_cast<std::uint8_t>(s)});
        break;
      }
      list(a.rank);
    }
    if (settling_) return;  // one at a time: chains of collectives would be as deep as they are long
    settling_ = true;
    while (!later_.empty()) {
      const auto [r, s] = later_.back();
      later_.pop_back();
      pump(r, s);
    }
    settling_ = false;
  }

  // Of the collectives that some rank waits for: the one that ended first in the recording.
  bool force_one() {
    std::uint32_t chosen = kNobody;
    const auto consider = [&](std::uint32_t m) {
      if (end_[m] != kNotYet) return;
      if (chosen == kNobody || job_.meetings[m].end_ns < job_.meetings[chosen].end_ns) chosen = m;
    };
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      RankState& rank = ranks_[r];
      for (const StreamState& stream : rank.streams) {
        if (stream.in_flight) consider(meeting_of(r, rank.items[stream.queue.front().item]));
      }
      if (rank.lane_at < rank.host_at && rank.items[rank.lane_at].target != kNoCollective)
        consider(meeting_of(r, rank.items[rank.lane_at]));
      if (rank.host_at < rank.items.size() && rank.items[rank.host_at].target != kNoCollective)
        consider(meeting_of(r, rank.items[rank.host_at]));
    }
    if (chosen == kNobody || forced_ == kMostForced) return false;
    ++forced_;
    if (begun_[chosen] == 0) latest_[chosen] = job_.meetings[chosen].last_start_ns;
    finish(chosen);
    return true;
  }

  const Job& job_;
  const JobChanges& changes_;
  std::vector<std::uint32_t> begun_;  // of each meeting: how many have
  std::vector<std::int64_t> latest_;  // when the last of them did
  std::vector<std::int64_t> end_;
  std::vector<RankState> ranks_;
  std::vector<std::uint32_t> work_;  // ranks that can go on
  std::vector<std::pair<std::uint32_t, std::uint8_t>> later_;
  bool settling_ = false;
  std::int64_t forced_ = 0;
};

}  // namespace

JobReplay replay_job(const Job& job, const JobChanges& changes) { return JobPlayer(job, changes).play(); }

}  // namespace ridge
