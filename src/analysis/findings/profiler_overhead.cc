// profiler_overhead: idle time under the profiler's own overhead events: buffer requests and flushes, instrumentation, lazy loading that it triggers.
#include "analysis/findings/catalog.h"

namespace ridge {

std::optional<Finding> find_profiler_overhead(Facts& facts) {
  Claim claim(facts.ledger());
  Tally tally;
  const EventTable& events = facts.trace().events;
  for (const EventId event : facts.trace().of(EventClass::overhead)) {
    const std::int64_t start = events.ts_ns(event);
    const Interval time{start, start + events.dur_ns(event).value_or(0)};
    std::int64_t most = 0;
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) most = std::max(most, claim.take_idle_within(d, time));
    if (most > 0) tally.add(events.name(event), 0, event.value, most);
  }
  if (!claim.keep()) return std::nullopt;
  const std::optional<std::uint32_t> largest = tally.largest();
  return Finding{
      .finding = "the profiler itself held the program up: the idle time under its overhead events is not the program's",
      .saves_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = evidence_of(
          facts, tally, [&](std::uint32_t event) { return std::string(facts.trace().text(events.name(EventId{event}))); }),
      .action =
          "do not judge the program by this part: leave it out (--step, --from), or profile with a warm-up phase and "
          "without stacks, shapes and memory",
      .event = largest ? std::optional(EventId{*largest}) : std::nullopt};
}

}  // namespace ridge
