// StragglerCandidates by what their blocks take more than their peers'; groups by what their transfers do; the replay decides.
#include "job/stragglers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/median.h"
#include "job/compared_job.h"
#include "job/kernel_pace.h"
#include "job/link_times.h"
#include "job/mend_block.h"
#include "job/peers.h"
#include "job/replay.h"
#include "job/straggler_candidate.h"

namespace ridge {
namespace {

constexpr double kLeastShare = 0.02;       // of a step: below it is not reported
constexpr double kCandidateShare = 0.008;  // what a rank's own blocks must take more, to be tried
constexpr std::size_t kMostTried = 12;     // candidates at a time
constexpr std::size_t kMostFound = 8;

class StragglerFinder {
 public:
  StragglerFinder(const Job& job, std::int64_t step_ns)
      : job_(job), step_ns_(step_ns), peers_(find_peers(job)), pace_(kernel_pace(job)) {
    std::vector<std::int64_t> counts;
    for (const JobRank& rank : job.ranks) {
      if (rank.aligned) counts.push_back(static_cast<std::int64_t>(rank.digest->steps.size()));
    }
    if (!counts.empty()) found_.steps = std::max<std::int64_t>(1, median(counts));
  }

  Stragglers find() {
    const bool meet = std::ranges::any_of(job_.ranks, &JobRank::aligned);
    if (job_.ranks.size() < 2 || step_ns_ <= 0 || !meet) return std::move(found_);
    const JobReplay recorded = replay_job(job_, {});
    start_ns_ = INT64_MAX;
    std::int64_t observed_end = INT64_MIN;
    for (const JobRank& rank : job_.ranks) {
      if (!rank.aligned || rank.stands_in) continue;
      start_ns_ = std::min(start_ns_, rank.common(rank.digest->start_ns));
      observed_end = std::max(observed_end, rank.common(rank.digest->end_ns));
    }
    base_ns_ = recorded.end_ns;
    const std::int64_t replayed = step_ns_ + (recorded.end_ns - observed_end) / found_.steps;
    if (replayed <= 0) {
      found_.diagnostics.push_back(
          {"replay_differs", 1, "the job cannot be replayed from what its traces hold: no costs are told"});
      return std::move(found_);
    }
    found_.replayed_ns = replayed;
    check_replay(recorded, observed_end);
    tell_median();
    std::vector<StragglerCandidate> candidates = candidate_ranks();
    links_.emplace(job_, found_.steps);
    for (StragglerCandidate& group : links_->slow_groups(kCandidateShare * static_cast<double>(step_ns_)))
      candidates.push_back(std::move(group));
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const StragglerCandidate& a, const StragglerCandidate& b) { return a.excess_ns > b.excess_ns; });
    if (candidates.size() > kMostTried) candidates.resize(kMostTried);
    mend_one_by_one(std::move(candidates));
    return std::move(found_);
  }

 private:
  // A gain over the steps in which the candidate was recorded.
  double per_step(const StragglerCandidate& candidate, std::int64_t ns) {
    const std::int64_t steps = shared_steps(candidate.rank ? *candidate.rank : job_.groups[*candidate.group].members.front());
    return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, steps));
  }

  // Steps of a rank in which the recording of all others had begun: whoever begins later is where the recording has it, and
  // what was gained before is lost. A recording has begun with its first collective, not with its host, which may be steps
  // ahead of the device.
  std::int64_t shared_steps(std::uint32_t r) {
    if (!begun_ns_) {
      begun_ns_ = INT64_MIN;
      for (std::uint32_t other = 0; other < job_.ranks.size(); ++other) {
        if (!job_.ranks[other].aligned) continue;
        std::int64_t first = INT64_MAX;
        for (const std::uint32_t m : job_.meeting_of[other]) first = std::min(first, job_.meetings[m].end_ns);
        if (first != INT64_MAX) begun_ns_ = std::max(*begun_ns_, first);
      }
    }
    const Digest& digest = *job_.ranks[r].digest;
    std::vector<std::pair<std::int64_t, std::int64_t>> met(digest.steps.size());  // collectives, and those with all others
    for (std::uint32_t i = 0; i < digest.collectives.size(); ++i) {
      if (digest.collectives[i].step >= met.size()) continue;
      auto& [count, whole] = met[digest.collectives[i].step];
      ++count;
      whole += *begun_ns_ <= job_.meetings[job_.meeting_of[r][i]].end_ns;
    }
    return std::ranges::count_if(met, [](const auto& step) { return step.first > 0 && step.second * 2 >= step.first; });
  }

  void check_replay(const JobReplay& recorded, std::int64_t observed_end) {
    const double observed = static_cast<double>(observed_end - start_ns_);
    const double more = observed > 0 ? static_cast<double>(recorded.end_ns - observed_end) / observed : 0;
    std::string absent;
    for (const JobRank& rank : job_.ranks) {
      if (rank.stands_in) absent += (absent.empty() ? "" : ", ") + std::to_string(rank.rank);
    }
    if (!absent.empty() && -more >= kLeastShare) {
      found_.diagnostics.push_back(
          {"absent_late", 1,
           fmt::format("with rank {} like its peers, whose trace is not there, the job takes {:.1f} % less than recorded: the "
                       "others may be waiting for it",
                       absent, -more * 100)});
      return;
    }
    constexpr double kMostOff = 0.1;
    if (std::abs(more) <= kMostOff && recorded.forced == 0) return;
    found_.diagnostics.push_back({"replay_differs", 1,
                                  fmt::format("replayed with its own times the job takes {:.0f} % {} than recorded: costs of "
                                              "stragglers are that uncertain",
                                              std::abs(more) * 100, more > 0 ? "more" : "less")});
  }

  // Ranks --------------------------------------------------------------------------------------------------------------------

  const std::vector<BlockMedians>& medians_for(std::uint32_t r) {
    constexpr std::size_t kMany = 24;  // of so many one more or less moves no median
    const PeerClass& of = peers_.classes[peers_.ranks[r].peers];
    if (of.ranks.size() >= kMany) return of.all;
    const auto [it, is_new] = without_.try_emplace(r);
    if (is_new) it->second = medians_without(peers_, r);
    return it->second;
  }

  bool has_peers(std::uint32_t r) const { return peers_.classes[peers_.ranks[r].peers].ranks.size() > 1; }

  std::vector<StragglerCandidate> candidate_ranks() {
    std::vector<StragglerCandidate> found;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (job_.ranks[r].stands_in) continue;
      for (const BlockTime time : {BlockTime::device, BlockTime::host, BlockTime::loader}) {
        StragglerCandidate candidate = has_peers(r) ? against_peers(r, time) : against_all(r, time);
        if (candidate.excess_ns < kCandidateShare * static_cast<double>(step_ns_)) continue;
        if (!has_peers(r) || stands_out(candidate)) found.push_back(candidate);
      }
    }
    return found;
  }

  StragglerCandidate against_peers(std::uint32_t r, BlockTime time) {
    StragglerCandidate candidate{.rank = r, .group = {}, .time = time};
    const std::vector<BlockMedians>& medians = medians_for(r);
    const auto t = static_cast<std::size_t>(time);
    double own = 0, peer = 0, other = 0;
    for (const LaneBlock& block : peers_.ranks[r].blocks) {
      if (block.place >= medians.size() || medians[block.place].observed == 0) continue;
      const BlockMedians& typical = medians[block.place];
      own += static_cast<double>(block.ns[t]);
      peer += static_cast<double>(typical.ns[t]);
      const bool same = block.kernels == typical.kernels && block.work_hash == typical.work_hash;
      if (!same) other += static_cast<double>(block.ns[t] - typical.ns[t]);
      candidate.own_kernels += block.kernels;
      candidate.peer_kernels += typical.kernels;
    }
    const auto steps = static_cast<double>(std::max<std::size_t>(1, job_.ranks[r].digest->steps.size()));
    candidate.own_ns = own / steps;
    candidate.peer_ns = peer / steps;
    candidate.excess_ns = (own - peer) / steps;
    candidate.other_work = own > peer ? other / (own - peer) : 0;
    candidate.ratio = peer > 0 ? own / peer : 1;
    return candidate;
  }

  // Whether its peers are nearer to each other than it is to them: ranks that all differ have no straggler among them.
  bool stands_out(const StragglerCandidate& candidate) {
    constexpr double kDeviations = 3, kOfMedianDeviation = 1.4826;  // of a normal distribution
    const std::uint32_t of = peers_.ranks[*candidate.rank].peers;
    const auto t = static_cast<std::size_t>(candidate.time);
    std::vector<std::int64_t>& totals = totals_[{of, t}];
    if (totals.empty()) {
      for (const std::uint32_t r : peers_.classes[of].ranks) totals.push_back(a_step(r, t));
      std::sort(totals.begin(), totals.end());
    }
    if (totals.size() < 3) return true;
    const std::int64_t own = a_step(*candidate.rank, t);
    std::vector<std::int64_t> others = totals;
    others.erase(std::lower_bound(others.begin(), others.end(), own));
    const std::int64_t usual = median(others);
    for (std::int64_t& other : others) other = std::abs(other - usual);
    return static_cast<double>(own - usual) > kDeviations * kOfMedianDeviation * static_cast<double>(median(std::move(others)));
  }

  std::int64_t a_step(std::uint32_t r, std::size_t t) const {
    std::int64_t sum = 0;
    for (const LaneBlock& block : peers_.ranks[r].blocks) sum += block.ns[t];
    return sum / static_cast<std::int64_t>(std::max<std::size_t>(1, job_.ranks[r].digest->steps.size()));
  }

  // A rank that is like no other (a stage of a pipeline): its kernels against the same kernels elsewhere, its host by the
  // launch.
  StragglerCandidate against_all(std::uint32_t r, BlockTime time) {
    StragglerCandidate candidate{.rank = r, .group = {}, .time = time};
    double own = 0;
    for (const LaneBlock& block : peers_.ranks[r].blocks) own += static_cast<double>(block.ns[static_cast<std::size_t>(time)]);
    candidate.own_ns = own / static_cast<double>(std::max<std::size_t>(1, job_.ranks[r].digest->steps.size()));
    const std::optional<double> ratio = pace_.ratio(r, time);
    candidate.ratio = ratio.value_or(1);
    candidate.peer_ns = candidate.own_ns / candidate.ratio;
    candidate.excess_ns = candidate.own_ns - candidate.peer_ns;
    return candidate;
  }

  // The items of a rank with its peers' times of one sort.
  std::vector<LaneItem> mended(const StragglerCandidate& candidate, const std::vector<LaneItem>& items) {
    std::vector<LaneItem> changed = items;
    const std::uint32_t r = *candidate.rank;
    if (!has_peers(r)) {
      for (LaneItem& item : changed) scale_item(candidate.time, 1 / candidate.ratio, &item);
      return changed;
    }
    const std::vector<BlockMedians>& medians = medians_for(r);
    for (const LaneBlock& block : peers_.ranks[r].blocks) {
      if (block.place < medians.size() && medians[block.place].observed > 0)
        mend_block(candidate.time, block, medians[block.place], &changed);
    }
    return changed;
  }

  // Mending ------------------------------------------------------------------------------------------------------------------

  void apply(const StragglerCandidate& candidate, JobChanges* changes) {
    if (candidate.group) return links_->mend(*candidate.group, changes);
    const auto before = changes->items.find(*candidate.rank);
    const std::vector<LaneItem>& items =
        before == changes->items.end() ? job_.ranks[*candidate.rank].digest->items : before->second;
    std::vector<LaneItem> after = mended(candidate, items);
    changes->items[*candidate.rank] = std::move(after);
  }

  std::int64_t end_with(const StragglerCandidate& candidate, const JobChanges& so_far) {
    JobChanges changes = so_far;
    apply(candidate, &changes);
    return replay_job(job_, changes).end_ns;
  }

  // The dearest first. Where several hide each other none is dear by itself: then the one with the most to spare is mended, and
  // has its share when the others are too.
  void mend_one_by_one(std::vector<StragglerCandidate> candidates) {
    JobChanges changes;
    std::int64_t now = base_ns_;
    std::vector<std::pair<StragglerCandidate, std::int64_t>> mended_so_far;  // with what each gained
    const double least = kLeastShare * static_cast<double>(step_ns_);
    while (!candidates.empty() && mended_so_far.size() < kMostFound) {
      std::size_t best = 0;
      std::int64_t best_end = INT64_MAX;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::int64_t end = end_with(candidates[i], changes);
        if (end < best_end) best = i, best_end = end;
      }
      if (per_step(candidates[best], now - best_end) < least) {
        if (!together_matter(candidates, changes, now, least)) break;
        best = 0;  // in order of excess
        best_end = end_with(candidates[0], changes);
      }
      apply(candidates[best], &changes);
      mended_so_far.emplace_back(candidates[best], now - best_end);
      now = best_end;
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
    }
    report(mended_so_far, least);
  }

  bool together_matter(const std::vector<StragglerCandidate>& candidates, const JobChanges& so_far, std::int64_t now,
                       double least) {
    if (candidates.size() < 2) return false;
    JobChanges all = so_far;
    for (const StragglerCandidate& candidate : candidates) apply(candidate, &all);
    return per_step(candidates.front(), now - replay_job(job_, all).end_ns) >= least;
  }

  // Those that hid each other share what they gained together by what they have in excess.
  void report(const std::vector<std::pair<StragglerCandidate, std::int64_t>>& mended_so_far, double least) {
    double hidden_gain = 0, hidden_excess = 0;
    std::vector<const StragglerCandidate*> hidden;
    std::vector<std::pair<const StragglerCandidate*, double>> costs;
    for (const auto& [candidate, gain] : mended_so_far) {
      if (hidden.empty() && per_step(candidate, gain) >= least) {
        costs.emplace_back(&candidate, per_step(candidate, gain));
        continue;
      }
      hidden.push_back(&candidate);
      hidden_gain += per_step(candidate, gain);
      hidden_excess += candidate.excess_ns;
    }
    for (const StragglerCandidate* candidate : hidden) {
      const double share = hidden_excess > 0 ? hidden_gain * candidate->excess_ns / hidden_excess : 0;
      costs.emplace_back(candidate, share);
    }
    for (const auto& [candidate, cost] : costs) {
      if (cost >= least) found_.list.push_back(straggler_of(*candidate, cost, step_ns_));
    }
    for (const BlockTime time : {BlockTime::device, BlockTime::host, BlockTime::loader}) tell_alike(costs, time, least);
    std::stable_sort(found_.list.begin(), found_.list.end(),
                     [](const Straggler& a, const Straggler& b) { return a.costs_ns > b.costs_ns; });
  }

  // Ranks with the same fault that each cost little by themselves, as any of them holds the others up: a whole machine that is
  // slow. Only ranks that themselves take longer by what a straggler costs.
  void tell_alike(const std::vector<std::pair<const StragglerCandidate*, double>>& costs, BlockTime time, double least) {
    std::vector<std::pair<const StragglerCandidate*, double>> alike;
    double together = 0;
    for (const auto& [candidate, cost] : costs) {
      if (!candidate->rank || candidate->time != time || cost >= least || candidate->excess_ns < least) continue;
      alike.emplace_back(candidate, cost);
      together += cost;
    }
    if (alike.size() < 2 || together < least) return;
    std::vector<std::uint32_t> ranks;
    for (const auto& [candidate, cost] : alike) ranks.push_back(*candidate->rank);
    std::sort(ranks.begin(), ranks.end());
    const std::string& host = job_.ranks[ranks.front()].digest->host;
    const auto of_host =
        std::ranges::count_if(job_.ranks, [&](const JobRank& r) { return r.digest->host == host && !r.stands_in; });
    const bool whole_host = !host.empty() && of_host == std::ssize(ranks) && of_host < std::ssize(job_.ranks) &&
                            std::ranges::all_of(ranks, [&](std::uint32_t r) { return job_.ranks[r].digest->host == host; });
    for (const auto& [candidate, cost] : alike) {
      Straggler& found = found_.list.emplace_back(straggler_of(*candidate, cost, step_ns_));
      found.alike = ranks;
      found.alike_pct = together / static_cast<double>(step_ns_) * 100;
      if (whole_host) found.host = host;
      found.evidence += fmt::format("; one of {} ranks that are slow alike{}, and cost {:.1f} % together", ranks.size(),
                                    whole_host ? ", all of host " + host : std::string(), found.alike_pct);
    }
  }

  void tell_median() {
    JobChanges changes;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (!has_peers(r)) continue;
      std::vector<LaneItem> items = job_.ranks[r].digest->items;
      mend_rank(peers_.ranks[r], peers_.classes[peers_.ranks[r].peers].all, &items);
      changes.items[r] = std::move(items);
    }
    std::vector<std::int64_t> shared;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      if (job_.ranks[r].aligned && !job_.ranks[r].stands_in) shared.push_back(shared_steps(r));
    }
    const std::int64_t steps = shared.empty() ? found_.steps : std::max<std::int64_t>(1, median(std::move(shared)));
    const std::int64_t median_step = *found_.replayed_ns - (base_ns_ - replay_job(job_, changes).end_ns) / steps;
    if (median_step > 0) found_.if_median_ns = median_step;
  }

  const Job& job_;
  const std::int64_t step_ns_;
  const Peers peers_;
  const KernelPace pace_;
  std::optional<LinkTimes> links_;
  Stragglers found_;
  std::int64_t start_ns_ = 0, base_ns_ = 0;
  std::optional<std::int64_t> begun_ns_;  // when the recording of the last rank begins
  std::map<std::uint32_t, std::vector<BlockMedians>> without_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::vector<std::int64_t>>
      totals_;  // a step's, of each rank of a class, sorted
};

}  // namespace

Stragglers find_stragglers(const Job& job, std::int64_t step_ns) {
  const std::optional<Job> compared = compared_job(job);
  return StragglerFinder(compared ? *compared : job, step_ns).find();
}

}  // namespace ridge
