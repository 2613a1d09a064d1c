// The place of a rank in its pipeline group is its stage.
#include "job/stages.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNoStage = UINT32_MAX;
constexpr double kUneven = 1.05;     // times the mean: less is what no partition avoids
constexpr double kLeastGain = 0.02;  // of a step

// By rank; empty where no pipeline is told, or pipelines of different lengths.
std::vector<std::uint32_t> stages_of(const Job& job, std::size_t* count) {
  std::vector<std::uint32_t> stages(job.ranks.size(), kNoStage);
  *count = 0;
  for (const JobGroup& group : job.groups) {
    if (group.role != GroupRole::pipeline || group.ranks.size() < 2) continue;
    if (*count != 0 && *count != group.ranks.size()) return {};
    *count = group.ranks.size();
    for (const std::uint32_t member : group.members) {
      const auto at = std::find(group.ranks.begin(), group.ranks.end(), job.ranks[member].rank);
      if (at != group.ranks.end()) stages[member] = static_cast<std::uint32_t>(at - group.ranks.begin());
    }
  }
  return *count == 0 ? std::vector<std::uint32_t>() : stages;
}

double device_ns_of_step(const Digest& digest) {
  double sum = 0;
  for (const LaneItem& item : digest.items) {
    if (item.kind == LaneItemKind::run) sum += item.device_ns;
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, digest.steps.size()));
}

}  // namespace

std::optional<UnevenStages> find_uneven_stages(const Job& job, std::int64_t step_ns) {
  std::size_t count = 0;
  const std::vector<std::uint32_t> stages = stages_of(job, &count);
  if (stages.empty() || step_ns <= 0) return std::nullopt;
  std::vector<std::vector<std::int64_t>> of_stage(count);
  for (std::size_t r = 0; r < stages.size(); ++r) {
    if (stages[r] == kNoStage) continue;
    of_stage[stages[r]].push_back(std::llround(device_ns_of_step(*job.ranks[r].digest)));
  }
  UnevenStages found;
  std::vector<double> own(count);
  double sum = 0;
  for (std::size_t s = 0; s < count; ++s) {
    if (of_stage[s].empty()) return std::nullopt;       // its ranks are missing
    own[s] = static_cast<double>(median(of_stage[s]));  // a straggler of the stage is no work of the stage
    if (own[s] <= 0) return std::nullopt;
    sum += own[s];
    if (own[s] > own[found.stage]) found.stage = s;
  }
  const double mean = sum / static_cast<double>(count);
  if (own[found.stage] < kUneven * mean) return std::nullopt;
  for (std::uint32_t r = 0; r < stages.size(); ++r) {
    if (stages[r] == found.stage) found.ranks.push_back(job.ranks[r].rank);
  }
  found.longest_ns = std::llround(own[found.stage]);
  found.mean_ns = std::llround(mean);
  const double at_most = own[found.stage] - mean;
  return at_most < kLeastGain * static_cast<double>(step_ns) ? std::nullopt : std::optional(found);
}

}  // namespace ridge
