// recompile_limit: Dynamo looked a frame up, found nothing that fits and did not compile: its limit of versions is reached, and
// the frame runs eager each time. Claimed is the device's waiting for the launches of such frames.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/least_time.h"
#include "model/frame_name.h"
#include "model/locations.h"

namespace ridge {
namespace {

// How far behind a lookup its frame is looked for: what stands between are slices of the lookup itself.
constexpr std::uint32_t kNodesLookedAt = 200;

// The time of the frame that runs eager behind a lookup; empty where it is none of the user's. With stacks it is the next
// Python frame beside the lookup; without, everything up to the next lookup, to the end of the slice around it or to the end of
// its iteration.
Interval eager_time(const Facts& facts, const CacheLookup& lookup, std::int64_t next_lookup_ns) {
  const CallTree& tree = facts.tree();
  const std::int64_t from = tree.end_ns[lookup.node.value];
  const NodeId parent = tree.parent[lookup.node.value];
  if (!facts.trace().of(EventClass::python_frame).empty()) {
    for (std::uint32_t n = lookup.node.value + 1; n < tree.recorded && n < lookup.node.value + kNodesLookedAt; ++n) {
      if (tree.start_ns[n] < from || tree.parent[n] != parent) continue;
      const auto frame = parse_frame_name(facts.name(NodeId{n}));
      const bool user = tree.event_class[n] == EventClass::python_frame && frame && is_user_file(frame->file);
      return {from, user ? tree.end_ns[n] : from};
    }
    return {from, from};
  }
  std::int64_t until = next_lookup_ns;
  if (parent != kNoNode) until = std::min(until, tree.end_ns[parent.value]);
  const Iterations& iterations = facts.model().iterations();
  if (const auto at = iterations.at(from)) until = std::min(until, iterations.list[*at].end_ns);
  return {from, std::max(from, until)};
}

struct EagerTimes {
  std::vector<Interval> times;
  Largest lookup;  // before the longest of them
};

EagerTimes eager_times(const Facts& facts) {
  const std::vector<CacheLookup>& lookups = facts.model().compiled_regions().lookups;
  EagerTimes out;
  // While frames are compiled, Dynamo looks up and skips many that are not the user's; only stacks tell them apart.
  if (!facts.model().compile_phases().empty() && facts.trace().of(EventClass::python_frame).empty()) return out;
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    if (lookups[i].outcome != LookupOutcome::not_compiled || !facts.scope().holds(lookups[i].node)) continue;
    const bool last =
        i + 1 == lookups.size() || facts.time(lookups[i + 1].node).start_ns < facts.time(lookups[i].node).start_ns;
    const Interval time = eager_time(facts, lookups[i], last ? INT64_MAX : facts.time(lookups[i + 1].node).start_ns);
    if (time.length() <= 0) continue;
    out.times.push_back(time);
    out.lookup.see(lookups[i].node.value, time.length());
  }
  return out;
}

std::string frames(Facts& facts) {
  std::string out;
  std::size_t shown = 0;
  for (const LookupCount& count : facts.graphs().lookups) {
    if (count.outcome != LookupOutcome::not_compiled || shown == kShown) continue;
    if (count.location.empty() != facts.trace().of(EventClass::python_frame).empty() || count.location.starts_with("torch/"))
      continue;
    out += fmt::format("{}{}: {}", shown++ == 0 ? "" : "; ", count.location.empty() ? "frames without a name" : count.location,
                       per_iteration(facts, count.lookups, "lookup"));
  }
  return out + " that found no compiled code";
}

}  // namespace

std::optional<Finding> find_recompile_limit(Facts& facts) {
  const EagerTimes found = eager_times(facts);
  if (found.times.size() < 2)
    return std::nullopt;  // the limit shows each time the frame runs; one lookup may be cut off by the window's end
  const IntervalSet eager{std::vector<Interval>(found.times)};
  const auto holds = [&](std::int64_t time) {
    const auto list = eager.intervals();
    const auto it =
        std::upper_bound(list.begin(), list.end(), time, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
    return it != list.begin() && time < (it - 1)->end_ns;
  };
  Claim claim(facts.ledger());
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const NodeId launch = facts.launch(slot.next_work);
    const bool late = is_late(slot.piece.cause) || slot.piece.cause == IdleCause::guards;
    if (late && launch != kNoNode && holds(facts.time(launch).start_ns)) claim.take_idle(d, i);
  });
  reach_compiled(facts, {}, &claim);  // compiled, they are fused too
  claim.keep_anyway();
  const bool named = !facts.trace().of(EventClass::python_frame).empty();
  return Finding{.finding = "frames run eager because they hit Dynamo's recompile limit",
                 .at_most_ns = claim.ns() > 0 ? std::optional(claim.ns()) : std::nullopt,
                 .confidence = named ? Confidence::high : Confidence::medium,
                 .evidence = frames(facts),
                 .action =
                     "fix the failing guard (TORCH_LOGS=recompiles shows it): mark sizes dynamic, pass changing numbers as "
                     "tensors; or raise torch._dynamo.config.recompile_limit",
                 .event = facts.event_of(found.lookup.id())};
}

}  // namespace ridge
