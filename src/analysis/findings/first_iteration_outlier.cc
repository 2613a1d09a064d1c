// first_iteration_outlier: the first iteration takes far longer than the median, so that means over all iterations are no example of the program. Measured on
// the device, from the first work of an iteration to that of the next: what comes before the first work of all is the recording's start, and no finding.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/units.h"

namespace ridge {
namespace {

constexpr double kOutlier = 1.5;  // times the median; equal iterations differ by a few percent
constexpr std::size_t kLeastIterations = 3;

struct Begin {
  std::int64_t start_ns = 0;
  std::uint32_t row = 0;  // of the work that it begins with
};

// When the device begins each iteration of the scope that has work, in order.
std::vector<Begin> starts(const Facts& facts) {
  const Iterations& iterations = facts.model().iterations();
  std::map<std::size_t, Begin> first;
  for (const DeviceLedger& device : facts.ledger().devices()) {
    for (const WorkSlot& slot : device.work) {
      const NodeId launch = facts.launch(slot.work.row);
      const auto at = iterations.at(launch == kNoNode ? slot.work.start_ns : facts.time(launch).start_ns);
      if (!at) continue;
      const Begin begin{slot.work.start_ns, slot.work.row};
      const auto [it, added] = first.try_emplace(*at, begin);
      if (!added && begin.start_ns < it->second.start_ns) it->second = begin;
    }
  }
  std::vector<Begin> out;
  for (const auto& [iteration, start] : first) out.push_back(start);
  return out;
}

}  // namespace

std::optional<Finding> find_first_iteration_outlier(Facts& facts) {
  const std::vector<Begin> begin = starts(facts);
  const std::vector<std::size_t> inside = facts.scope().iterations();
  if (begin.size() < kLeastIterations || inside.size() < kLeastIterations) return std::nullopt;
  std::vector<std::int64_t> durations;
  for (std::size_t i = 1; i < begin.size(); ++i) durations.push_back(begin[i].start_ns - begin[i - 1].start_ns);
  const std::int64_t first = durations.front();
  std::sort(durations.begin() + 1, durations.end());
  const std::int64_t median = std::max<std::int64_t>(1, durations[1 + (durations.size() - 1) / 2]);
  const double ratio = static_cast<double>(first) / static_cast<double>(median);
  if (ratio <= kOutlier) return std::nullopt;
  const std::vector<Iteration>& list = facts.model().iterations().list;
  return Finding{.finding = fmt::format("the first iteration takes {:.1f} times as long as the median of the others", ratio),
                 .saves_ns = std::nullopt,
                 .confidence = Confidence::high,
                 .evidence = fmt::format("first {}, median {}", format_duration(static_cast<double>(first)),
                                         format_duration(static_cast<double>(median))),
                 .action = fmt::format("leave it out: --step {}-{}, or a profiler schedule with warmup", list[inside[1]].number,
                                       list[inside.back()].number),
                 .event = facts.event_of_work(begin.front().row)};
}

}  // namespace ridge
