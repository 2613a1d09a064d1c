// Clocks from ends: a collective ends for all of its ranks at nearly the same moment. From one rank on, group by group, each
// new rank gets the median of what its ends lack; then all are fitted to the medians of the ends, twice, with what its clock
// gains or loses over the window. Medians: neither stragglers nor single late ends move them.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>

#include "base/median.h"
#include "base/saturating.h"
#include "job/job_steps.h"

namespace ridge {
namespace {

constexpr std::int64_t kUnknown = INT64_MIN;

class ClockFit {
 public:
  explicit ClockFit(Job* job) : job_(*job), end_of_(job->meetings.size(), kUnknown), meetings_of_(job->groups.size()) {
    for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) meetings_of_[job_.meetings[m].group].push_back(m);
    for (std::uint32_t g = 0; g < job_.groups.size(); ++g) {
      std::vector<std::uint32_t>& all = meetings_of_[g];
      const auto symmetric = [&](std::uint32_t m) { return ends_together(job_.names[job_.meetings[m].name]); };
      if (std::any_of(all.begin(), all.end(), symmetric)) std::erase_if(all, [&](std::uint32_t m) { return !symmetric(m); });
    }
    for (JobRank& rank : job_.ranks) {
      rank.middle_ns = rank.digest->start_ns / 2 + rank.digest->end_ns / 2;
      rank.offset_ns = rank.error_ns = 0;
      rank.drift = 0;
      rank.aligned = false;
    }
  }

  void fit() {
    place_all();
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) end_of_[m] = median_end(m);
      for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) refine(r, round == 1);
    }
    share_within_hosts();
    tell_errors();
    finish_meetings();
  }

 private:
  // In a broadcast, a reduction to one, a send, some are done before others.
  static bool ends_together(const std::string& name) {
    const auto holds = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    return !(name.starts_with("broadcast") || name.starts_with("send") || name.starts_with("recv") ||
             name.starts_with("_broadcast") || name == "reduce" || name == "gather" || name == "scatter" ||
             holds("coalesced_p2p"));
  }

  const DigestCollective& collective(const Attendant& attendant) const {
    return job_.ranks[attendant.rank].digest->collectives[attendant.collective];
  }

  // From the rank with the smallest number on, through the groups that hold placed ranks; then from the next that is left.
  void place_all() {
    std::vector<std::vector<std::uint32_t>> groups_of(job_.ranks.size());
    for (std::uint32_t g = 0; g < job_.groups.size(); ++g) {
      for (const std::uint32_t r : job_.groups[g].members) groups_of[r].push_back(g);
    }
    std::vector<std::uint32_t> by_size(job_.ranks.size());
    std::vector<bool> seen(job_.groups.size(), false);
    std::uint32_t clocks = 0;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (job_.ranks[r].aligned) continue;
      // What the traces say of their own clocks, where nothing better is known.
      job_.ranks[r].offset_ns = base_difference(r);
      const bool meets =
          std::any_of(groups_of[r].begin(), groups_of[r].end(), [&](std::uint32_t g) { return meets_others(g, r); });
      clock_ = clocks++;
      job_.ranks[r].clock = clock_;
      if (!meets) continue;
      job_.ranks[r].aligned = true;
      // Larger groups first: their ends tell more.
      const auto smaller = [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(meetings_of_[a].size() * job_.groups[a].members.size(), b) <
               std::pair(meetings_of_[b].size() * job_.groups[b].members.size(), a);
      };
      std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(smaller)> next(smaller);
      const auto enqueue = [&](std::uint32_t rank) {
        for (const std::uint32_t g : groups_of[rank]) {
          if (!seen[g]) seen[g] = true, next.push(g);
        }
      };
      enqueue(r);
      while (!next.empty()) {
        const std::uint32_t g = next.top();
        next.pop();
        place_group(g, enqueue);
      }
    }
    if (clocks > 1) say_apart(clocks);
  }

  // The largest set of ranks that meet, and the others.
  void say_apart(std::uint32_t clocks) {
    std::vector<std::size_t> sizes(clocks);
    for (const JobRank& rank : job_.ranks) ++sizes[rank.clock];
    const auto largest = static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    std::vector<std::int64_t> apart;
    for (const JobRank& rank : job_.ranks) {
      const bool lost = rank.digest->damaged && rank.digest->collectives.empty();  // which is said
      if (rank.clock != largest && !lost) apart.push_back(rank.rank);
    }
    if (apart.empty()) return;
    const bool one = apart.size() == 1;
    job_.diagnostics.push_back({"groups_apart", 1,
                                (one ? "rank " : "ranks ") + listed_ranks(apart) + (one ? " shares" : " share") +
                                    " no collective with the other " + std::to_string(sizes[largest]) +
                                    ": clocks cannot be compared. Are the traces of one job?"});
  }

  std::int64_t base_difference(std::uint32_t r) const {
    const auto own = job_.ranks[r].digest->base_time_ns, first = job_.ranks.front().digest->base_time_ns;
    return own && first ? *own - *first : 0;
  }

  bool meets_others(std::uint32_t g, std::uint32_t r) const {
    return job_.groups[g].members.size() > 1 &&
           std::any_of(meetings_of_[g].begin(), meetings_of_[g].end(), [&](std::uint32_t m) {
             const auto attendants = job_.attendants_of(job_.meetings[m]);
             return attendants.size() > 1 &&
                    std::any_of(attendants.begin(), attendants.end(), [&](const Attendant& a) { return a.rank == r; });
           });
  }

  // In a group of sends and receives ranks are reached one after the other. With the drift, where it is plain: later, when most
  // of a rank's meetings are with others of its own machine, these hide it.
  template <class Enqueue>
  void place_group(std::uint32_t g, const Enqueue& enqueue) {
    for (bool placed = true; placed;) {
      placed = false;
      std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> lacks;
      for (const std::uint32_t m : meetings_of_[g]) {
        std::vector<std::int64_t> known;
        const auto attendants = job_.attendants_of(job_.meetings[m]);
        if (attendants.size() < 2) continue;
        for (const Attendant& a : attendants) {
          if (job_.ranks[a.rank].aligned) known.push_back(job_.ranks[a.rank].common(collective(a).end_ns));
        }
        if (known.empty() || known.size() == attendants.size()) continue;
        const std::int64_t end = median(std::move(known));
        for (const Attendant& a : attendants) {
          if (!job_.ranks[a.rank].aligned) lacks[a.rank].emplace_back(collective(a).end_ns, end - collective(a).end_ns);
        }
      }
      for (auto& [r, found] : lacks) {
        JobRank& rank = job_.ranks[r];
        std::sort(found.begin(), found.end());
        rank.offset_ns = 0;
        constexpr double kPlain = 2;  // times what chance makes of it
        follow(&rank, &found, kPlain);
        rank.aligned = true;
        rank.clock = clock_;
        placed = true;
        enqueue(r);
      }
    }
  }

  std::int64_t median_end(std::uint32_t m) {
    ends_.clear();
    const auto attendants = job_.attendants_of(job_.meetings[m]);
    if (attendants.size() < 2) return kUnknown;
    for (const Attendant& a : attendants) {
      if (job_.ranks[a.rank].aligned) ends_.push_back(job_.ranks[a.rank].common(collective(a).end_ns));
    }
    return ends_.size() < 2 ? kUnknown : median(ends_);
  }

  // What the ends of a rank lack of those of its meetings, in order of time.
  std::vector<std::pair<std::int64_t, std::int64_t>> residuals(std::uint32_t r) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> found, others;
    const JobRank& rank = job_.ranks[r];
    for (std::uint32_t i = 0; i < rank.digest->collectives.size(); ++i) {
      const std::uint32_t m = job_.meeting_of[r][i];
      if (m == UINT32_MAX || end_of_[m] == kUnknown) continue;
      const std::int64_t own = rank.digest->collectives[i].end_ns;
      (ends_together(job_.names[job_.meetings[m].name]) ? found : others).emplace_back(own, end_of_[m] - rank.common(own));
    }
    if (found.empty()) found = std::move(others);
    std::sort(found.begin(), found.end());
    return found;
  }

  static std::int64_t median_lack(std::span<const std::pair<std::int64_t, std::int64_t>> found) {
    std::vector<std::int64_t> lacks;
    for (const auto& [time, lack] : found) lacks.push_back(lack);
    return median(std::move(lacks));
  }

  // Offsets stay within what common() can hold.
  static void move(JobRank* rank, std::int64_t by_ns) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    saturating_add(&rank->offset_ns, by_ns);
    rank->offset_ns = std::clamp(rank->offset_ns, -kMost, kMost);
  }

  void refine(std::uint32_t r, bool with_drift) {
    JobRank& rank = job_.ranks[r];
    if (!rank.aligned) return;
    auto found = residuals(r);
    if (!found.empty()) follow(&rank, &found, with_drift ? std::optional(1.0) : std::nullopt);
  }

  // The clock by what its ends lack, in order of time. `sure`: with its drift, where that is so many times what chance makes.
  static void follow(JobRank* rank, std::vector<std::pair<std::int64_t, std::int64_t>>* found, std::optional<double> sure) {
    const std::int64_t middle = median_lack(*found);
    move(rank, middle);
    for (auto& [time, lack] : *found) lack -= middle;
    // Twice: while ends still run away, those that are late by themselves stand among the others.
    for (int round = 0; sure && round < 2; ++round) {
      const auto drift = drift_of(*found, *sure);
      if (!drift) return;
      for (auto& [time, lack] : *found) lack -= static_cast<std::int64_t>(*drift * static_cast<double>(time - rank->middle_ns));
      const std::int64_t left = median_lack(*found);
      for (auto& [time, lack] : *found) lack -= left;
      rank->drift += *drift;
      move(rank, left);
    }
  }

  // What a clock loses over the time of these ends, where that is more than chance.
  static std::optional<double> drift_of(std::span<const std::pair<std::int64_t, std::int64_t>> found, double sure) {
    constexpr std::size_t kFewest = 12;
    if (found.size() < kFewest) return std::nullopt;
    const std::size_t third = found.size() / 3;
    const auto head = found.first(third), tail = found.last(third);
    const std::int64_t apart = tail[third / 2].first - head[third / 2].first;
    if (apart <= 0) return std::nullopt;
    const auto gain = static_cast<double>(median_lack(tail) - median_lack(head));
    const double drift = gain / static_cast<double>(apart);
    constexpr double kMostDrift = 1e-3;  // quartz is within 1e-4
    if (std::abs(drift) > kMostDrift) return std::nullopt;
    std::vector<std::int64_t> lacks, spread;  // with that drift taken out
    for (const auto& [time, lack] : found)
      lacks.push_back(lack - static_cast<std::int64_t>(drift * static_cast<double>(time - found.front().first)));
    const std::int64_t left = median(lacks);
    for (const std::int64_t lack : lacks) spread.push_back(std::abs(lack - left));
    // What medians of that many ends may differ by without any drift: 1.25 x 1.48 median deviations / sqrt(n) is the error of
    // one median, that of a difference of two is 1.41 times that; three of these are no chance.
    const double noise = 8 * static_cast<double>(median(std::move(spread))) / std::sqrt(static_cast<double>(third)) + 100;
    return std::abs(gain) < sure * noise ? std::nullopt : std::optional(drift);
  }

  // Ranks of one machine share its clock: where their own fits agree, they get the median of them.
  void share_within_hosts() {
    constexpr std::int64_t kSameClockNs = 100'000;
    std::map<std::string, std::vector<std::uint32_t>> hosts;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const JobRank& rank = job_.ranks[r];
      if (rank.aligned && !rank.digest->host.empty() && rank.digest->base_time_ns) hosts[rank.digest->host].push_back(r);
    }
    for (const auto& [host, ranks] : hosts) {
      if (ranks.size() < 2) continue;
      std::vector<std::int64_t> skews, drifts;
      for (const std::uint32_t r : ranks) {
        skews.push_back(job_.ranks[r].offset_ns);
        saturating_add(&skews.back(), -base_difference(r));
        drifts.push_back(static_cast<std::int64_t>(job_.ranks[r].drift * 1e12));
      }
      const auto [least, most] = std::minmax_element(skews.begin(), skews.end());
      if (static_cast<double>(*most) - static_cast<double>(*least) > kSameClockNs) continue;
      const std::int64_t skew = median(skews);
      const double drift = static_cast<double>(median(drifts)) / 1e12;
      for (const std::uint32_t r : ranks) {
        JobRank& rank = job_.ranks[r];
        rank.offset_ns = base_difference(r);
        move(&rank, skew);
        rank.drift = drift;
      }
    }
  }

  // By the group that agrees least with the rank: ends within a machine say nothing of those between machines.
  void tell_errors() {
    for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) end_of_[m] = median_end(m);
    std::vector<std::uint32_t> told(job_.meetings.size(), 0);
    for (const std::vector<std::uint32_t>& of_group : meetings_of_) {
      for (const std::uint32_t m : of_group) told[m] = 1;
    }
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      JobRank& rank = job_.ranks[r];
      if (!rank.aligned) continue;
      std::map<std::uint32_t, std::vector<std::int64_t>> distances;  // by group
      for (std::uint32_t i = 0; i < rank.digest->collectives.size(); ++i) {
        const std::uint32_t m = job_.meeting_of[r][i];
        if (m == UINT32_MAX || end_of_[m] == kUnknown || told[m] == 0) continue;
        const std::int64_t own = rank.common(rank.digest->collectives[i].end_ns);
        distances[job_.meetings[m].group].push_back(std::abs(end_of_others(m, r) - own));
      }
      for (auto& [group, values] : distances) rank.error_ns = std::max(rank.error_ns, median(std::move(values)));
    }
  }

  // Of many one more or less moves no median.
  std::int64_t end_of_others(std::uint32_t m, std::uint32_t r) {
    constexpr std::size_t kFew = 8;
    const auto attendants = job_.attendants_of(job_.meetings[m]);
    if (attendants.size() > kFew) return end_of_[m];
    ends_.clear();
    for (const Attendant& a : attendants) {
      if (a.rank != r && job_.ranks[a.rank].aligned) ends_.push_back(job_.ranks[a.rank].common(collective(a).end_ns));
    }
    return median(ends_);
  }

  void finish_meetings() {
    for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) {
      Meeting& meeting = job_.meetings[m];
      meeting.last_start_ns = INT64_MIN;
      ends_.clear();
      for (const Attendant& a : job_.attendants_of(meeting)) {
        const JobRank& rank = job_.ranks[a.rank];
        meeting.last_start_ns = std::max(meeting.last_start_ns, rank.common(collective(a).start_ns));
        ends_.push_back(rank.common(collective(a).end_ns));
      }
      meeting.end_ns = median(ends_);
      meeting.transfer_ns = std::max<std::int64_t>(0, meeting.end_ns - meeting.last_start_ns);
    }
  }

  Job& job_;
  std::vector<std::int64_t> end_of_;                     // of each meeting, by the common clock
  std::vector<std::vector<std::uint32_t>> meetings_of_;  // by group: those whose ends tell
  std::vector<std::int64_t> ends_;
  std::uint32_t clock_ = 0;
};

}  // namespace

void fit_clocks(Job* job) {
  if (!job->ranks.empty()) ClockFit(job).fit();
}

}  // namespace ridge
