// profiler_overhead: idle time under the profiler's own overhead events: buffer requests and flushes, instrumentation, lazy
// loading that it triggers. In a trace combined of several processes each is held up by its own profiler only.
#include <algorithm>
#include <map>

#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

// The profiler's events are on a track of their own, under no pid of the program. Traces are combined one behind the other, so
// that the process whose slices stand around them in the file is the one.
class Profilers {
 public:
  explicit Profilers(const Facts& facts) : facts_(facts) {
    if (facts.ledger().devices().size() < 2) return;
    for (std::size_t n = 0; n < facts.tree().recorded; ++n) see(facts.tree().event[n], &processes_);
    for (const EventId event : facts.trace().of(EventClass::overhead)) see(event, &profilers_);
    for (const DeviceLedger& device : facts.ledger().devices()) process_of_device_.push_back(process_of(device));
  }

  bool holds_up(EventId overhead, std::size_t device) const {
    if (process_of_device_.empty()) return true;
    const std::optional<TrackPart> program = program_of(pid(overhead));
    return !program || !process_of_device_[device] || *process_of_device_[device] == *program;
  }

 private:
  struct Range {
    std::uint32_t first = UINT32_MAX, last = 0;
  };
  using Ranges = std::map<TrackPart, Range>;

  TrackPart pid(EventId event) const { return facts_.trace().forms.track(facts_.trace().track(event)).pid; }
  void see(EventId event, Ranges* ranges) const {
    Range& range = (*ranges)[pid(event)];
    range.first = std::min(range.first, event.value);
    range.last = std::max(range.last, event.value);
  }
  // The only process whose slices stand among a profiler's events; nothing when there are several.
  std::optional<TrackPart> program_of(const TrackPart& profiler) const {
    const Range& own = profilers_.at(profiler);
    std::optional<TrackPart> found;
    for (const auto& [process, range] : processes_) {
      if (range.last < own.first || range.first > own.last) continue;
      if (found) return std::nullopt;
      found = process;
    }
    return found;
  }
  std::optional<TrackPart> process_of(const DeviceLedger& device) const {
    for (const WorkSlot& slot : device.work) {
      if (const NodeId launch = facts_.launch(slot.work.row); launch != kNoNode) return pid(facts_.tree().event[launch.value]);
    }
    return std::nullopt;
  }

  const Facts& facts_;
  Ranges processes_, profilers_;
  std::vector<std::optional<TrackPart>> process_of_device_;
};

}  // namespace

std::optional<Finding> find_profiler_overhead(Facts& facts) {
  Claim claim(facts.ledger());
  Tally tally;
  if (facts.trace().of(EventClass::overhead).empty()) return std::nullopt;
  const Profilers profilers(facts);
  const EventTable& events = facts.trace().events;
  for (const EventId event : facts.trace().of(EventClass::overhead)) {
    const std::int64_t start = events.ts_ns(event);
    const Interval time{start, start + events.dur_ns(event).value_or(0)};
    std::int64_t most = 0;
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
      if (profilers.holds_up(event, d)) most = std::max(most, claim.take_idle_within(d, time));
    }
    if (most > 0) tally.add(events.name(event), 0, event.value, most);
  }
  if (!claim.keep()) return std::nullopt;
  const std::optional<std::uint32_t> largest = tally.largest();
  return Finding{
      .finding = "the profiler slowed the program down: the device idled during its overhead events",
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = evidence_of(
          facts, tally, [&](std::uint32_t event) { return std::string(facts.trace().text(events.name(EventId{event}))); }),
      .action = "leave this part out (--step, --from), or profile with a warm-up phase and without stacks, shapes and memory",
      .event = largest ? std::optional(EventId{*largest}) : std::nullopt,
      .comes_true = 0 /* when nobody records there is none of it */};
}

}  // namespace ridge
