// Receives counted by when they are waited for; the replay of the job as recorded has the last word.
#include "job/receive_waits.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "job/replay.h"

namespace ridge {
namespace {

class ReceiveWaits {
 public:
  explicit ReceiveWaits(const Job& job) : job_(job) {
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) count(r);
  }

  bool are_plain() const {
    constexpr int kTimes = 8;
    return unseen_ > 0 && at_once_ > kTimes * later_;
  }

  // The items of a rank with the waits that were not seen.
  std::vector<LaneItem> with_waits(std::uint32_t r) const {
    std::vector<LaneItem> items;
    std::vector<std::uint32_t> open;
    for (const LaneItem& item : job_.ranks[r].digest->items) {
      if (item.kind == LaneItemKind::wait) std::erase(open, item.target);
      if (item.kind == LaneItemKind::run) {
        for (const std::uint32_t target : open) {
          LaneItem& wait = items.emplace_back();
          wait.kind = LaneItemKind::wait;
          wait.target = target;
        }
        open.clear();
      }
      items.push_back(item);
      if (item.kind == LaneItemKind::collective && is_receive(r, item.target)) open.push_back(item.target);
    }
    return items;
  }

 private:
  bool is_receive(std::uint32_t r, std::uint32_t collective) const {
    const Meeting& meeting = job_.meetings[job_.meeting_of[r][collective]];
    return meeting.point_to_point && meeting.destination == job_.ranks[r].rank;
  }

  void count(std::uint32_t r) {
    std::set<std::uint32_t> open, passed;  // receives since the last work, and those before it
    for (const LaneItem& item : job_.ranks[r].digest->items) {
      if (item.kind == LaneItemKind::collective && is_receive(r, item.target)) open.insert(item.target);
      if (item.kind == LaneItemKind::wait) {
        at_once_ += static_cast<int>(open.erase(item.target));
        later_ += static_cast<int>(passed.erase(item.target));
      }
      if (item.kind != LaneItemKind::run) continue;
      unseen_ += static_cast<int>(open.size());
      passed.insert(open.begin(), open.end());
      open.clear();
    }
  }

  const Job& job_;
  int at_once_ = 0, later_ = 0, unseen_ = 0;
};

}  // namespace

bool add_receive_waits(Job* job) {
  const ReceiveWaits waits(*job);
  if (!waits.are_plain()) return false;
  Job other = *job;
  for (std::uint32_t r = 0; r < job->ranks.size(); ++r) {
    auto digest = std::make_shared<Digest>(*job->ranks[r].digest);
    digest->items = waits.with_waits(r);
    other.ranks[r].digest = digest.get();
    other.remade.push_back(std::move(digest));
  }
  std::int64_t start = INT64_MAX;
  for (const JobRank& rank : job->ranks) start = std::min(start, rank.common(rank.digest->start_ns));
  const JobReplay before = replay_job(*job, {}), after = replay_job(other, {});
  constexpr std::int64_t kParts = 100;  // of the job: more than one is another
  if (after.forced > before.forced || std::abs(after.end_ns - before.end_ns) > (before.end_ns - start) / kParts) return false;
  *job = std::move(other);
  return true;
}

}  // namespace ridge
