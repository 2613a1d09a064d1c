// LinkTimes: what transfers take in each group, set against those that ought to take the same: of one name, size and type, in
// groups of one role and size, over links of one sort (within a machine, between machines).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "job/job.h"
#include "job/replay.h"
#include "job/straggler_candidate.h"

namespace ridge {

class LinkTimes {
 public:
  LinkTimes(const Job& job, std::int64_t steps);

  // Groups whose transfers take longer than those of others like them, by `least_ns` of a step or more.
  std::vector<StragglerCandidate> slow_groups(double least_ns) const;

  // The group's transfers as long as those of the others.
  void mend(std::uint32_t group, JobChanges* changes) const;

 private:
  using LikeKey = std::tuple<std::uint32_t, std::int64_t, std::uint32_t, GroupRole, std::int64_t, bool, bool>;
  LikeKey like_key(const Meeting& meeting) const;

  const Job& job_;
  std::map<std::uint32_t, StragglerCandidate> groups_;
  std::map<std::pair<LikeKey, std::uint32_t>, std::pair<std::int64_t, std::int64_t>>
      usual_;  // a group's median, and the others'
};

}  // namespace ridge
