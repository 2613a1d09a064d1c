// Medians by kind of collective and group.
#include "job/link_times.h"

#include <algorithm>

#include "base/median.h"

namespace ridge {
namespace {

constexpr std::size_t kMostCompared = 64;  // of more groups than these one more or less moves no median
constexpr double kSlower = 1.15;           // times as long: less is noise of short transfers

}  // namespace

LinkTimes::LikeKey LinkTimes::like_key(const Meeting& meeting) const {
  const JobGroup& group = job_.groups[meeting.group];
  return {meeting.name,           meeting.bytes.value_or(-1), meeting.dtype, group.role,
          group.size.value_or(0), group.hosts_known,          group.one_host};
}

LinkTimes::LinkTimes(const Job& job, std::int64_t steps) : job_(job) {
  std::map<LikeKey, std::map<std::uint32_t, std::vector<std::int64_t>>> times;
  for (const Meeting& meeting : job.meetings) {
    if (meeting.complete && meeting.count > 1) times[like_key(meeting)][meeting.group].push_back(meeting.transfer_ns);
  }
  for (const auto& [key, groups] : times) {
    if (groups.size() < 2) continue;
    std::map<std::uint32_t, std::int64_t> own;
    for (const auto& [group, list] : groups) own[group] = median(list);
    std::vector<std::int64_t> all;
    for (const auto& [group, ns] : own) all.push_back(ns);
    const std::int64_t of_all = median(all);
    for (const auto& [group, typical] : own) {
      std::int64_t usual = of_all;
      if (own.size() <= kMostCompared) {
        std::vector<std::int64_t> others = all;
        others.erase(std::find(others.begin(), others.end(), typical));
        usual = median(std::move(others));
      }
      usual_[{key, group}] = {typical, usual};
      StragglerCandidate& candidate = groups_[group];
      candidate.group = group;
      const double a_step = static_cast<double>(groups.at(group).size()) / static_cast<double>(steps);
      candidate.own_ns += static_cast<double>(typical) * a_step;
      candidate.peer_ns += static_cast<double>(usual) * a_step;
    }
  }
  for (auto& [group, candidate] : groups_) {
    candidate.excess_ns = candidate.own_ns - candidate.peer_ns;
    candidate.ratio = candidate.peer_ns > 0 ? candidate.own_ns / candidate.peer_ns : 1;
  }
}

std::vector<StragglerCandidate> LinkTimes::slow_groups(double least_ns) const {
  std::vector<StragglerCandidate> found;
  for (const auto& [group, candidate] : groups_) {
    if (candidate.ratio >= kSlower && candidate.excess_ns >= least_ns) found.push_back(candidate);
  }
  return found;
}

void LinkTimes::mend(std::uint32_t group, JobChanges* changes) const {
  for (std::uint32_t m = 0; m < job_.meetings.size(); ++m) {
    const Meeting& meeting = job_.meetings[m];
    if (meeting.group != group) continue;
    const auto usual = usual_.find({like_key(meeting), group});
    if (usual == usual_.end() || usual->second.first <= 0) continue;
    const double factor = static_cast<double>(usual->second.second) / static_cast<double>(usual->second.first);
    changes->transfer_ns[m] = static_cast<std::int64_t>(static_cast<double>(meeting.transfer_ns) * factor);
  }
}

}  // namespace ridge
