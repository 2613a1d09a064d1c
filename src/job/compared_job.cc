// Ranks that are cut off end the comparison, or are lost to it; then waits that were not seen, and ranks that are absent.
#include "job/compared_job.h"

#include <algorithm>
#include <memory>

#include "base/median.h"
#include "job/job_steps.h"
#include "job/peers.h"
#include "job/receive_waits.h"
#include "job/stand_ins.h"

namespace ridge {
namespace {

// A rank's own medians. What begins a step, where only its first one is whole, is told by what begins its trace, set against
// what its peers have there.
std::vector<BlockMedians> own_medians(const Peers& peers, std::uint32_t r) {
  std::vector<BlockMedians> own = medians_of_rank(peers, r);
  const std::vector<BlockMedians>& all = peers.classes[peers.ranks[r].peers].all;
  if (own.size() <= kFirstPlace || own[kFirstPlace].observed > 0 || own[kOpening].observed == 0) return own;
  own[kFirstPlace] = all[kFirstPlace];
  for (std::size_t t = 0; t < kBlockTimes; ++t) {
    std::int64_t& ns = own[kFirstPlace].ns[t];
    ns = std::max<std::int64_t>(0, ns + own[kOpening].ns[t] - all[kOpening].ns[t]);
  }
  return own;
}

// All ranks up to the last whole step of those that are cut off; a rank with less than half of the steps is lost instead.
bool end_together(Job* job, OwnTimes* own) {
  std::vector<std::int64_t> counts;
  for (const JobRank& rank : job->ranks) {
    if (!rank.digest->damaged) counts.push_back(static_cast<std::int64_t>(rank.digest->steps.size()));
  }
  const std::int64_t usual = counts.empty() ? 0 : median(std::move(counts));
  std::optional<std::int64_t> last;  // number of the last step
  bool changed = false;
  const auto replace = [&](JobRank* rank, std::size_t steps) {
    auto digest = std::make_shared<Digest>(*rank->digest);
    cut_digest(steps, digest.get());
    rank->digest = digest.get();
    job->remade.push_back(std::move(digest));
    changed = true;
  };
  std::optional<Peers> peers;
  for (std::uint32_t r = 0; r < job->ranks.size(); ++r) {
    JobRank& rank = job->ranks[r];
    if (!rank.digest->damaged || is_lost(rank)) continue;
    const auto steps = static_cast<std::int64_t>(rank.digest->steps.size());
    if (steps * 2 < usual || steps == 0) {
      if (!peers) peers = find_peers(*job);
      if (steps > 0) (*own)[rank.rank] = own_medians(*peers, r);
      replace(&rank, 0);
    } else if (steps < usual) {
      last = std::min(last.value_or(INT64_MAX), rank.digest->steps.back().number);
    }
  }
  for (JobRank& rank : job->ranks) {
    if (!last) break;
    const std::vector<DigestStep>& steps = rank.digest->steps;
    const auto kept = std::ranges::count_if(steps, [&](const DigestStep& step) { return step.number <= *last; });
    if (kept > 0 && kept < std::ssize(steps)) replace(&rank, static_cast<std::size_t>(kept));
  }
  return changed;
}

// Where traces do not list the ranks of a group, those that are lost now were among them.
void keep_members(const Job& from, Job* to) {
  for (JobGroup& group : to->groups) {
    const auto same = std::ranges::find_if(from.groups, [&](const JobGroup& before) {
      return before.name == group.name && before.size == group.size && std::ranges::all_of(group.ranks, [&](std::int64_t rank) {
               return std::ranges::find(before.ranks, rank) != before.ranks.end();
             });
    });
    if (same != from.groups.end()) group.ranks = same->ranks;
  }
}

}  // namespace

std::optional<Job> compared_job(const Job& job) {
  const bool damaged = std::ranges::any_of(job.ranks, [](const JobRank& rank) { return rank.digest->damaged; });
  const bool pipeline = std::ranges::any_of(job.meetings, &Meeting::point_to_point);
  if (!damaged && job.missing == 0 && !pipeline) return std::nullopt;
  Job compared = job;
  OwnTimes own;
  if (damaged && end_together(&compared, &own)) {
    match_meetings(&compared);
    keep_members(job, &compared);
    fit_clocks(&compared);
    name_roles(&compared);
  }
  const bool waits = pipeline && add_receive_waits(&compared);
  if (!damaged && job.missing == 0 && !waits) return std::nullopt;
  make_stand_ins(job, own, &compared);
  return compared;
}

}  // namespace ridge
