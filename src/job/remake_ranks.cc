// Ranks whose traces are not as the others'. One without the marks by which the others have steps gets its steps from those
// that it meets; one that is cut off ends with its last whole step. Each gets a digest of its own, which the job holds.
#include <algorithm>
#include <map>
#include <set>

#include "base/median.h"
#include "base/saturating.h"
#include "job/job_steps.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNoMeeting = UINT32_MAX;

// By which rule most ranks have their steps: one that goes by marks, where any rank has them.
std::string rule_of_steps(const Job& job) {
  std::map<std::string, std::pair<bool, int>> rules;
  for (const JobRank& rank : job.ranks) {
    const std::string& rule = rank.digest->iterations;
    if (rank.digest->steps.empty()) continue;
    auto& [marked, count] = rules[rule];
    marked = rule != "device_period" && rule != "whole_window";
    ++count;
  }
  const auto most =
      std::max_element(rules.begin(), rules.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == rules.end() ? std::string() : most->first;
}

// Splits a sum by weights, to the last nanosecond.
std::vector<std::int64_t> shares_of(std::int64_t sum, const std::vector<double>& weights) {
  double all = 0, so_far = 0;
  for (const double weight : weights) all += weight;
  std::vector<std::int64_t> shares;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    so_far += all > 0 ? weights[i] / all : 1.0 / static_cast<double>(weights.size());
    const std::int64_t until = i + 1 == weights.size() ? sum : static_cast<std::int64_t>(so_far * static_cast<double>(sum));
    shares.push_back(until - given);
    given = until;
  }
  return shares;
}

class RankRemaker {
 public:
  explicit RankRemaker(Job* job) : job_(*job), rule_(rule_of_steps(*job)) {}

  bool remake() {
    std::vector<std::pair<std::uint32_t, Digest>> made;
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const Digest& own = *job_.ranks[r].digest;
      const bool unmarked = own.iterations != rule_ && job_.ranks[r].aligned;
      if (!unmarked && !own.damaged) continue;
      Digest digest = own;
      bool changed = unmarked && take_steps(r, &digest);
      if (own.damaged) changed = end_with_whole_step(r, &digest) || changed;
      if (changed) made.emplace_back(r, std::move(digest));
    }
    for (auto& [r, digest] : made) {
      const auto& held = job_.remade.emplace_back(std::make_shared<const Digest>(std::move(digest)));
      job_.ranks[r].digest = held.get();
    }
    return !made.empty();
  }

 private:
  const Digest& digest(std::uint32_t r) const { return *job_.ranks[r].digest; }

  bool marks_steps(std::uint32_t r) const { return digest(r).iterations == rule_ && !digest(r).steps.empty(); }

  // A step of another rank: (number, the rank, its index there).
  struct OtherStep {
    std::int64_t number = 0;
    std::uint32_t rank = 0, step = 0;
  };

  // The step in which the others of a meeting are: of the first that has marks.
  std::optional<OtherStep> step_of_others(std::uint32_t m, std::uint32_t r) const {
    if (m == kNoMeeting) return std::nullopt;
    for (const Attendant& a : job_.attendants_of(job_.meetings[m])) {
      if (a.rank == r || !marks_steps(a.rank)) continue;
      const std::uint32_t step = digest(a.rank).collectives[a.collective].step;
      if (step < digest(a.rank).steps.size()) return OtherStep{digest(a.rank).steps[step].number, a.rank, step};
    }
    return std::nullopt;
  }

  // A time of the common clock by the rank's own.
  static std::int64_t own_time(const JobRank& rank, std::int64_t common_ns) {
    std::int64_t own = common_ns;
    saturating_add(&own, -rank.offset_ns);
    return own - static_cast<std::int64_t>(rank.drift * static_cast<double>(own - rank.middle_ns));
  }

  // Steps as those have them whom the rank meets: the same numbers, from where theirs begin, in the median, to where they end.
  bool take_steps(std::uint32_t r, Digest* to) const {
    const JobRank& rank = job_.ranks[r];
    std::map<std::int64_t, std::set<std::pair<std::uint32_t, std::uint32_t>>> theirs;  // by number: rank, step
    std::vector<std::optional<std::int64_t>> numbers(to->collectives.size());
    std::int64_t latest = INT64_MIN;
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      const auto found = step_of_others(job_.meeting_of[r][i], r);
      if (!found || found->number < latest) continue;
      latest = found->number;
      numbers[i] = found->number;
      theirs[found->number].emplace(found->rank, found->step);
    }
    if (theirs.empty()) return false;
    std::vector<DigestStep> steps;
    std::map<std::int64_t, std::uint32_t> index;
    for (const auto& [number, found] : theirs) {
      std::vector<std::int64_t> starts, ends;
      for (const auto& [q, step] : found) {
        starts.push_back(own_time(rank, job_.ranks[q].common(digest(q).steps[step].start_ns)));
        ends.push_back(own_time(rank, job_.ranks[q].common(digest(q).steps[step].end_ns)));
      }
      index[number] = static_cast<std::uint32_t>(steps.size());
      steps.push_back({.number = number, .start_ns = median(std::move(starts)), .end_ns = median(std::move(ends))});
    }
    // What meets nobody with marks is of the step before it.
    std::uint32_t step = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i]) step = index[*numbers[i]];
      to->collectives[i].step = step;
    }
    share_sums(*to, &steps);
    to->steps = std::move(steps);
    to->iterations = rule_;
    return true;
  }

  // What was summed up over the whole trace, by the work of each step.
  static void share_sums(const Digest& of, std::vector<DigestStep>* steps) {
    std::vector<double> compute(steps->size()), exposed(steps->size()), equal(steps->size(), 1);
    double since = 0;
    std::uint32_t step = 0;
    for (const LaneItem& item : of.items) {
      if (item.kind == LaneItemKind::run) since += item.kernel_ns;
      if (item.kind != LaneItemKind::collective) continue;
      step = of.collectives[item.target].step;
      compute[step] += since;
      since = 0;
    }
    compute[step] += since;
    for (const DigestCollective& c : of.collectives) {
      exposed[c.step] += static_cast<double>(c.exposed_ns);
      saturating_add(&(*steps)[c.step].comm_ns, c.end_ns - c.start_ns);
    }
    DigestStep sum;
    for (const DigestStep& one : of.steps) {
      saturating_add(&sum.busy_ns, one.busy_ns);
      saturating_add(&sum.compute_ns, one.compute_ns);
      saturating_add(&sum.exposed_ns, one.exposed_ns);
      for (std::size_t i = 0; i < kLaneIdles; ++i) saturating_add(&sum.idle_ns[i], one.idle_ns[i]);
    }
    const auto computing = shares_of(sum.compute_ns, compute), rest = shares_of(sum.busy_ns - sum.compute_ns, exposed),
               alone = shares_of(sum.exposed_ns, exposed);
    for (std::size_t s = 0; s < steps->size(); ++s) {
      (*steps)[s].compute_ns = computing[s];
      (*steps)[s].busy_ns = computing[s] + rest[s];
      (*steps)[s].exposed_ns = alone[s];
    }
    for (std::size_t i = 0; i < kLaneIdles; ++i) {
      const auto idle = shares_of(sum.idle_ns[i], equal);
      for (std::size_t s = 0; s < steps->size(); ++s) (*steps)[s].idle_ns[i] = idle[s];
    }
  }

  // Work of the device in each step; what lies between two collectives counts with the second.
  static std::vector<std::int64_t> kernels_of(const Digest& of) {
    std::vector<std::int64_t> kernels(of.steps.size());
    std::int64_t since = 0;
    for (const LaneItem& item : of.items) {
      since += item.kernels;
      if (item.kind != LaneItemKind::collective) continue;
      const std::uint32_t step = of.collectives[item.target].step;
      if (step < kernels.size()) kernels[step] += since;
      since = 0;
    }
    return kernels;
  }

  // The fewest that those have whom the rank meets in one of its steps; of sends and receives other stages would tell.
  std::int64_t kernels_of_others(std::uint32_t r, const Digest& own, std::uint32_t step) {
    std::optional<std::int64_t> fewest;
    for (std::uint32_t i = 0; i < own.collectives.size(); ++i) {
      const std::uint32_t m = job_.meeting_of[r][i];
      if (own.collectives[i].step != step || m == kNoMeeting || job_.meetings[m].point_to_point) continue;
      for (const Attendant& a : job_.attendants_of(job_.meetings[m])) {
        if (a.rank == r || digest(a.rank).damaged) continue;
        const auto [it, is_new] = kernels_.try_emplace(a.rank);
        if (is_new) it->second = kernels_of(digest(a.rank));
        const std::uint32_t theirs = digest(a.rank).collectives[a.collective].step;
        if (theirs < it->second.size()) fewest = std::min(fewest.value_or(INT64_MAX), it->second[theirs]);
      }
      if (fewest) break;  // all of a step do the same
    }
    return fewest.value_or(0);
  }

  // Whether the rank is in all that its groups did in a step, sends and receives as much as in its other steps, and has the
  // work of the device that goes with it: profilers write that behind the host's.
  std::vector<bool> whole_steps(std::uint32_t r, const Digest& own) {
    std::map<std::int64_t, std::uint32_t> index;
    for (std::uint32_t s = 0; s < own.steps.size(); ++s) index[own.steps[s].number] = s;
    std::vector<std::int64_t> met(own.steps.size()), pairs(own.steps.size()), due(own.steps.size());
    std::set<std::uint32_t> groups;
    for (std::uint32_t i = 0; i < own.collectives.size(); ++i) {
      const std::uint32_t m = job_.meeting_of[r][i];
      if (m == kNoMeeting || own.collectives[i].step >= own.steps.size()) continue;
      groups.insert(job_.meetings[m].group);
      ++(job_.meetings[m].point_to_point ? pairs : met)[own.collectives[i].step];
    }
    for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) {
      if (job_.meetings[m].point_to_point || !groups.contains(job_.meetings[m].group)) continue;
      const auto found = step_of_others(m, r);
      const auto at = found ? index.find(found->number) : index.end();
      if (at != index.end()) ++due[at->second];
    }
    const std::int64_t most_pairs = pairs.empty() ? 0 : *std::max_element(pairs.begin(), pairs.end());
    const std::vector<std::int64_t> kernels = kernels_of(own);
    std::vector<bool> whole;
    for (std::uint32_t s = 0; s < own.steps.size(); ++s) {
      whole.push_back(met[s] + pairs[s] > 0 && met[s] >= due[s] && pairs[s] == most_pairs &&
                      kernels[s] * 2 >= kernels_of_others(r, own, s));
    }
    return whole;
  }

  bool end_with_whole_step(std::uint32_t r, Digest* to) {
    const std::vector<bool> whole = whole_steps(r, *to);
    std::size_t steps = whole.size();
    while (steps > 0 && !whole[steps - 1]) --steps;
    if (steps == whole.size() && steps > 0) return false;
    cut_digest(steps, to);
    return true;
  }

  Job& job_;
  const std::string rule_;
  std::map<std::uint32_t, std::vector<std::int64_t>> kernels_;  // by rank and step
};

}  // namespace

void cut_digest(std::size_t steps, Digest* digest) {
  if (steps >= digest->steps.size() && steps > 0) return;
  const auto first = std::find_if(digest->collectives.begin(), digest->collectives.end(),
                                  [&](const DigestCollective& c) { return c.step >= steps; });
  const auto kept = static_cast<std::uint32_t>(first - digest->collectives.begin());
  digest->collectives.erase(first, digest->collectives.end());
  // In the order of issue too: up to the last collective that is left.
  std::size_t items = 0;
  for (std::size_t i = 0; i < digest->items.size(); ++i) {
    const LaneItem& item = digest->items[i];
    if (item.kind != LaneItemKind::collective) continue;
    if (item.target >= kept) break;
    items = i + 1;
  }
  digest->items.resize(items);
  digest->steps.resize(steps);
  if (kept > 0) digest->end_ns = INT64_MIN;
  for (const DigestCollective& c : digest->collectives) digest->end_ns = std::max(digest->end_ns, c.end_ns);
}

bool remake_ranks(Job* job) { return RankRemaker(job).remake(); }

}  // namespace ridge
