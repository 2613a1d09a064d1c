// Means of each kernel by rank, set against the median rank's; a rank's pace is the mean of these ratios, weighted by time.
#include "job/kernel_pace.h"

#include <algorithm>
#include <map>

#include "base/median.h"

namespace ridge {
namespace {

constexpr std::size_t kFewestRanks = 3;  // to tell which one is out of line

// Each value over the median of the others; nothing where it is not known.
std::vector<std::optional<double>> against_others(const std::vector<std::optional<double>>& values) {
  std::vector<std::int64_t> known;
  for (const auto& value : values) {
    if (value) known.push_back(static_cast<std::int64_t>(*value));
  }
  std::vector<std::optional<double>> ratios(values.size());
  if (known.size() < kFewestRanks) return ratios;
  const auto usual = static_cast<double>(median(std::move(known)));
  for (std::size_t r = 0; r < values.size(); ++r) {
    if (values[r] && usual > 0) ratios[r] = *values[r] / usual;
  }
  return ratios;
}

std::vector<std::optional<double>> device_pace(const Job& job) {
  struct Seen {
    std::uint32_t rank;
    std::int64_t mean_ns, time_ns;
  };
  std::map<std::pair<std::string_view, std::uint32_t>, std::vector<Seen>> kernels;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    if (job.ranks[r].stands_in) continue;
    for (const DigestKernel& kernel : job.ranks[r].digest->kernels) {
      if (kernel.count > 0) kernels[{kernel.name, kernel.shape}].push_back({r, kernel.time_ns / kernel.count, kernel.time_ns});
    }
  }
  std::vector<double> sums(job.ranks.size()), weights(job.ranks.size());
  for (const auto& [key, seen] : kernels) {
    if (seen.size() < kFewestRanks) continue;
    std::vector<std::int64_t> means;
    for (const Seen& one : seen) means.push_back(one.mean_ns);
    const auto usual = static_cast<double>(median(std::move(means)));
    if (usual <= 0) continue;
    for (const Seen& one : seen) {
      sums[one.rank] += static_cast<double>(one.mean_ns) / usual * static_cast<double>(one.time_ns);
      weights[one.rank] += static_cast<double>(one.time_ns);
    }
  }
  std::vector<std::optional<double>> ratios(job.ranks.size());
  for (std::size_t r = 0; r < ratios.size(); ++r) {
    if (weights[r] > 0) ratios[r] = sums[r] / weights[r];
  }
  return ratios;
}

}  // namespace

KernelPace kernel_pace(const Job& job) {
  KernelPace pace;
  pace.device = device_pace(job);
  std::vector<std::optional<double>> launch, loader;
  for (const JobRank& rank : job.ranks) {
    double host = 0, waits = 0;
    std::int64_t kernels = 0;
    bool loads = false;
    for (const LaneItem& item : rank.digest->items) {
      host += item.host_ns;
      kernels += item.kernels;
      if (item.kind == LaneItemKind::loader) waits += item.device_ns, loads = true;
    }
    if (rank.stands_in) kernels = 0, loads = false;
    launch.push_back(kernels > 0 ? std::optional(host / static_cast<double>(kernels)) : std::nullopt);
    const auto steps = static_cast<double>(std::max<std::size_t>(1, rank.digest->steps.size()));
    loader.push_back(loads ? std::optional(waits / steps) : std::nullopt);
  }
  pace.host = against_others(launch);
  pace.loader = against_others(loader);
  return pace;
}

}  // namespace ridge
