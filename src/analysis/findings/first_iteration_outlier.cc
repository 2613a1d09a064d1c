// first_iteration_outlier: the first iteration takes far longer than the median, so that means over all iterations are no
// example of the program.
#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/units.h"
#include "model/iteration_spans.h"

namespace ridge {
namespace {

// The earliest device work that belongs to an iteration.
std::optional<EventId> first_work_of(const Facts& facts, std::size_t iteration) {
  const Iterations& iterations = facts.model().iterations();
  std::optional<std::pair<std::int64_t, std::uint32_t>> first;  // start, row
  for (const DeviceLedger& device : facts.ledger().devices()) {
    for (const WorkSlot& slot : device.work) {
      const NodeId launch = facts.launch(slot.work.row);
      if (iterations.at(launch == kNoNode ? slot.work.start_ns : facts.time(launch).start_ns) != iteration) continue;
      const std::pair candidate(slot.work.start_ns, slot.work.row);
      if (!first || candidate < *first) first = candidate;
    }
  }
  if (!first) return std::nullopt;
  return facts.event_of_work(first->second);
}

}  // namespace

std::optional<Finding> find_first_iteration_outlier(Facts& facts) {
  const std::vector<std::size_t> inside = facts.scope().iterations();
  const Iterations& iterations = facts.model().iterations();
  const std::optional<FirstIteration> first = first_iteration(iterations, inside);
  if (!first || !first->outlies()) return std::nullopt;
  return Finding{
      .finding = fmt::format("the first iteration takes {:.1f} times as long as the median of the others", first->ratio()),
      .at_most_ns = std::nullopt,
      .confidence = Confidence::high,
      .evidence = fmt::format("first {}, median of the others {}{}", format_duration(static_cast<double>(first->first_ns)),
                              format_duration(static_cast<double>(first->median_ns)),
                              first->by_work ? ", each from its first work on the device to that of the next" : ""),
      .action = fmt::format("skip it: --step {}-{}, or a profiler schedule with warmup", iterations.list[first->next].number,
                            iterations.list[inside.back()].number),
      .event = first_work_of(facts, first->index)};
}

}  // namespace ridge
