// Sums over meetings: by rank and step, by collective and group, by size of message.
#include "analysis/ranks/ranks.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "analysis/catalog.h"
#include "analysis/ranks/job_changes.h"
#include "base/median.h"
#include "base/saturating.h"
#include "device/peer_link.h"

namespace ridge {
namespace {

// Of a rank in a meeting; wait and transfer add up to its time in it.
struct Part {
  std::int64_t wait_ns = 0, transfer_ns = 0, late_ns = 0;
};

Part part_of(const Job& job, const Meeting& meeting, const Attendant& attendant, std::int64_t last_but_one_ns) {
  const JobRank& rank = job.ranks[attendant.rank];
  const DigestCollective& c = rank.digest->collectives[attendant.collective];
  const std::int64_t start = rank.common(c.start_ns);
  const MeetingPart times = part_in(job, meeting, attendant);
  Part part{times.wait_ns, times.transfer_ns, 0};
  if (!rank.aligned || meeting.count < 2 || meeting.point_to_point) return part;
  if (start >= meeting.last_start_ns) part.late_ns = start - last_but_one_ns;
  return part;
}

class RanksMaker {
 public:
  explicit RanksMaker(const Job& job) : ranks_{job} {}

  Ranks make() {
    start_rows();
    add_meetings();
    finish_rows();
    add_bubbles();
    add_shares();
    for (const JobRank& rank : ranks_.job.ranks) {
      if (!ranks_.peer_source.empty()) break;
      ranks_.peer_bytes_per_s = peer_link_bytes_per_s(rank.digest->device);
      ranks_.peer_source = peer_link_source(rank.digest->device);
    }
    ranks_.stragglers = find_stragglers(ranks_.job, ranks_.step_ns);
    ranks_.stages = find_uneven_stages(ranks_.job, ranks_.step_ns);
    return std::move(ranks_);
  }

 private:
  void start_rows() {
    const Job& job = ranks_.job;
    const std::int64_t first = clock_origin(job);
    for (const JobRank& rank : job.ranks) {
      RankSums& sums = ranks_.ranks.emplace_back();
      sums.rank = &rank;
      const std::int64_t own_first = rank.digest->steps.empty() ? 0 : rank.common(rank.digest->steps.front().start_ns);
      for (const DigestStep& step : rank.digest->steps) {
        sums.steps.push_back({.number = step.number,
                              .start_ns = rank.common(step.start_ns) - (rank.aligned ? first : own_first),
                              .step_ns = step.end_ns - step.start_ns,
                              .busy_ns = step.busy_ns,
                              .compute_ns = step.compute_ns,
                              .exposed_ns = step.exposed_ns});
      }
      if (sums.steps.empty()) sums.steps.emplace_back();
    }
  }

  // By rank and collective: how long others held the device up in the same step before, in collectives with nothing else to do.
  // Who comes late because another was late is not late itself.
  std::vector<std::vector<std::int64_t>> held_up_before() const {
    const Job& job = ranks_.job;
    std::vector<std::vector<std::int64_t>> held_up(job.ranks.size());
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      const std::vector<DigestCollective>& own = job.ranks[r].digest->collectives;
      std::int64_t sum = 0;
      for (std::uint32_t i = 0; i < own.size(); ++i) {
        if (i > 0 && own[i].step != own[i - 1].step) sum = 0;
        held_up[r].push_back(sum);
        const MeetingPart times = part_in(job, job.meetings[job.meeting_of[r][i]], {r, i});
        saturating_add(&sum, std::min(times.wait_ns, own[i].exposed_ns));
      }
    }
    return held_up;
  }

  void add_meetings() {
    const Job& job = ranks_.job;
    const std::vector<std::vector<std::int64_t>> held_up = held_up_before();
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, MeetingSums> collectives;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::vector<std::int64_t>> messages;
    for (const Meeting& meeting : job.meetings) {
      MeetingSums& sums = collectives[{meeting.name, meeting.group, meeting.dtype}];
      sums.name = meeting.name;
      sums.group = meeting.group;
      sums.dtype = meeting.dtype;
      ++sums.count;
      std::pair<std::int64_t, std::int64_t> last{INT64_MIN, 0}, last_but_one{INT64_MIN, 0};  // start, and held up before
      for (const Attendant& a : job.attendants_of(meeting)) {
        const JobRank& rank = job.ranks[a.rank];
        const std::pair own(rank.common(rank.digest->collectives[a.collective].start_ns), held_up[a.rank][a.collective]);
        last_but_one = std::max(last_but_one, std::min(last, own));
        last = std::max(last, own);
      }
      const std::int64_t inherited = std::max<std::int64_t>(0, last.second - last_but_one.second);
      for (const Attendant& a : job.attendants_of(meeting)) {
        const DigestCollective& c = job.ranks[a.rank].digest->collectives[a.collective];
        Part part = part_of(job, meeting, a, last_but_one.first);
        part.late_ns = std::max<std::int64_t>(0, part.late_ns - inherited);
        RankStep& step = ranks_.ranks[a.rank].steps[std::min<std::size_t>(c.step, ranks_.ranks[a.rank].steps.size() - 1)];
        saturating_add(&step.wait_ns, part.wait_ns);
        saturating_add(&step.transfer_ns, part.transfer_ns);
        saturating_add(&step.late_ns, part.late_ns);
        sums.wait_ns += static_cast<double>(part.wait_ns) / meeting.count;
        sums.exposed_ns += static_cast<double>(c.exposed_ns) / meeting.count;
      }
      saturating_add(&sums.transfer_ns, meeting.transfer_ns);
      if (!meeting.bytes) continue;
      std::int64_t bytes = sums.bytes.value_or(0);
      saturating_add(&bytes, *meeting.bytes);
      sums.bytes = bytes;
      saturating_add(&sums.sized_ns, meeting.transfer_ns);
      messages[{meeting.name, meeting.group, *meeting.bytes}].push_back(meeting.transfer_ns);
    }
    for (auto& [key, sums] : collectives) ranks_.collectives.push_back(sums);
    std::stable_sort(ranks_.collectives.begin(), ranks_.collectives.end(), [](const auto& a, const auto& b) {
      return a.wait_ns + static_cast<double>(a.transfer_ns) > b.wait_ns + static_cast<double>(b.transfer_ns);
    });
    for (auto& [key, times] : messages) {
      const auto count = static_cast<std::int64_t>(times.size());
      ranks_.messages.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count, median(std::move(times))});
    }
    std::stable_sort(ranks_.messages.begin(), ranks_.messages.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  static bool first_is_longest(const std::vector<DigestStep>& steps) {
    constexpr double kLonger = 1.05;
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) longest = std::max(longest, steps[i].end_ns - steps[i].start_ns);
    const auto first = static_cast<double>(steps.front().end_ns - steps.front().start_ns);
    return longest > 0 && first > kLonger * static_cast<double>(longest);
  }

  void finish_rows() {
    std::vector<std::int64_t> steps;
    for (RankSums& sums : ranks_.ranks) {
      for (const RankStep& step : sums.steps) {
        saturating_add(&sums.total.step_ns, step.step_ns);
        saturating_add(&sums.total.busy_ns, step.busy_ns);
        saturating_add(&sums.total.compute_ns, step.compute_ns);
        saturating_add(&sums.total.wait_ns, step.wait_ns);
        saturating_add(&sums.total.transfer_ns, step.transfer_ns);
        saturating_add(&sums.total.late_ns, step.late_ns);
        saturating_add(&sums.total.exposed_ns, step.exposed_ns);
      }
      const std::vector<DigestStep>& own = sums.rank->digest->steps;
      if (own.empty()) continue;
      const bool receives = std::ranges::any_of(sums.rank->digest->collectives,
                                                [](const DigestCollective& c) { return c.source && c.step == 0; });
      sums.first_counted = receives && first_is_longest(own) ? 1 : 0;
      // From the start of the first to the end of the last: what lies between steps is of one of them too.
      const std::span<const DigestStep> counted = counted_steps(sums);
      sums.step_ns = (counted.back().end_ns - counted.front().start_ns) / std::ssize(counted);
      steps.push_back(sums.step_ns);
    }
    if (!steps.empty()) ranks_.step_ns = median(std::move(steps));
  }

  void add_shares() {
    const Job& job = ranks_.job;
    std::vector<std::pair<std::int64_t, std::int64_t>> all, waits;
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      const Digest& digest = *job.ranks[r].digest;
      if (digest.steps.empty()) continue;
      const std::int64_t first = digest.steps.front().start_ns, last = digest.steps.back().end_ns;
      all.clear(), waits.clear();
      for (std::uint32_t i = 0; i < digest.collectives.size(); ++i) {
        const DigestCollective& c = digest.collectives[i];
        const std::int64_t start = std::max(c.start_ns, first), end = std::min(c.end_ns, last);
        if (start >= end) continue;
        all.emplace_back(start, end);
        const std::uint32_t m = job.meeting_of[r][i];
        const std::int64_t waited = m == UINT32_MAX ? 0 : part_in(job, job.meetings[m], {r, i}).wait_ns;
        if (c.start_ns + waited > start) waits.emplace_back(start, std::min(end, c.start_ns + waited));
      }
      ranks_.ranks[r].in_collectives_ns = covered_by(&all);
      ranks_.ranks[r].waiting_ns = covered_by(&waits);
    }
  }

  static std::int64_t covered_by(std::vector<std::pair<std::int64_t, std::int64_t>>* intervals) {
    std::sort(intervals->begin(), intervals->end());
    std::int64_t covered = 0, until = INT64_MIN;
    for (const auto& [start, end] : *intervals) {
      if (end > until) saturating_add(&covered, end - std::max(start, until)), until = end;
    }
    return covered;
  }

  // Sends and receives that overlap are one wait.
  void add_bubbles() {
    const Job& job = ranks_.job;
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> waits;  // start, end, idle
      const Digest& digest = *job.ranks[r].digest;
      for (std::uint32_t i = 0; i < digest.collectives.size(); ++i) {
        const std::uint32_t m = job.meeting_of[r][i];
        if (m == UINT32_MAX || !job.meetings[m].point_to_point) continue;
        const DigestCollective& c = digest.collectives[i];
        const Part part = part_of(job, job.meetings[m], {r, i}, 0);
        if (part.wait_ns > 0) waits.emplace_back(c.start_ns, c.start_ns + part.wait_ns, std::min(part.wait_ns, c.exposed_ns));
      }
      std::sort(waits.begin(), waits.end());
      std::int64_t until = INT64_MIN, idle = 0;
      for (const auto& [start, end, exposed] : waits) {
        if (start >= until) saturating_add(&ranks_.ranks[r].bubble_ns, idle), idle = 0;
        until = std::max(until, end);
        idle = std::max(idle, exposed);
      }
      saturating_add(&ranks_.ranks[r].bubble_ns, idle);
    }
  }

  Ranks ranks_;
};

}  // namespace

MeetingPart part_in(const Job& job, const Meeting& meeting, const Attendant& attendant) {
  const JobRank& rank = job.ranks[attendant.rank];
  const DigestCollective& c = rank.digest->collectives[attendant.collective];
  const std::int64_t length = c.end_ns - c.start_ns;
  if (!rank.aligned || meeting.count < 2) return {0, length};
  const std::int64_t wait = std::clamp<std::int64_t>(meeting.last_start_ns - rank.common(c.start_ns), 0, length);
  return {wait, length - wait};
}

std::int64_t clock_origin(const Job& job) {
  std::int64_t first = INT64_MAX;
  for (const JobRank& rank : job.ranks) {
    if (rank.aligned && !rank.digest->steps.empty()) first = std::min(first, rank.common(rank.digest->steps.front().start_ns));
  }
  return first == INT64_MAX ? 0 : first;
}

Ranks compute_ranks(const Job& job) { return RanksMaker(job).make(); }

Result<Report> run_ranks(const Job& job, const Job* before, const Arguments& arguments) {
  if (job.given < 2 || (before != nullptr && before->given < 2)) {
    return fail(ErrorCode::usage, "ranks needs the traces of two ranks at least", "",
                "give the folder of a job's traces, or of their digests");
  }
  Ranks found = compute_ranks(job);
  if (const auto given = arguments.find("network_gbps"); given != arguments.end()) {
    double gbits = 0;
    const char* const end = given->second.data() + given->second.size();
    const auto [stop, error] = std::from_chars(given->second.data(), end, gbits);
    if (error != std::errc{} || stop != end || !(gbits > 0) || gbits > 1e6)
      return fail(ErrorCode::usage, "invalid value '" + given->second + "' for --network-gbps", "",
                  "give the Gbit/s of a GPU's own network port: 400");
    found.network_bytes_per_s = gbits * 1e9 / 8;
  }
  return before == nullptr ? report_ranks(found) : report_job_changes(compute_ranks(*before), found);
}

}  // namespace ridge
