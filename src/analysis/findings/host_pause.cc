// host_pause: the device waits at length for one launch: not because there are many but because the host did something else,
// which the trace does not name as a wait, a compilation or a batch; or because a call of the driver took that long itself, as
// a first use does. What ran then is told as far as the trace tells.
//
// A pause in one iteration of several may never come again: it is told, and nothing is expected of a step.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"
#include "facts/long_calls.h"
#include "ops/dispatcher_op.h"

namespace ridge {
namespace {

constexpr double kOfUnknown = 0.5;    // of a pause of which nothing tells what it was for: it may be part of the work
constexpr std::int64_t kSeveral = 3;  // iterations: of fewer each may be the usual one
constexpr std::int64_t kLeastLeftNs = kHostPauseNs / 10;  // of a pause: dispatching an op takes as long

// The innermost op that the launching thread spent most of the pause in; nothing where there is none. What only calls ops (a
// compiled function, a node of autograd) is not where the time goes.
NodeId busy_with(const Facts& facts, const IdleSlot& slot) {
  constexpr std::uint32_t kMostLooked = 10'000;
  const NodeId launch = facts.launch(slot.next_work);
  const CallTree& tree = facts.tree();
  if (launch == kNoNode || launch.value >= tree.recorded) return kNoNode;
  for (std::uint32_t n = launch.value, looked = 0; n > 0 && looked < kMostLooked; --n, ++looked) {
    const NodeId node{n - 1};
    if (tree.start_ns[node.value] > tree.start_ns[launch.value]) break;  // another thread's
    if (tree.class_of(node) != EventClass::op) continue;
    const Interval time = facts.time(node);
    if (time.end_ns <= slot.piece.start_ns && tree.op_above(node) == kNoNode) break;
    const std::int64_t shared = std::min(time.end_ns, slot.piece.end_ns) - std::max(time.start_ns, slot.piece.start_ns);
    if (shared * 2 >= slot.piece.length() && is_dispatcher_op(facts.name(node))) return node;
  }
  return kNoNode;
}

// The outermost slice that lies in the pause: what the host was at. Else the launch that ended it.
NodeId at_work(const Facts& facts, const IdleSlot& slot) {
  const NodeId launch = facts.launch(slot.next_work);
  NodeId found = launch;
  for (NodeId n = launch; n != kNoNode; n = facts.tree().parent[n.value]) {
    const Interval time = facts.time(n);
    if (time.start_ns < slot.piece.start_ns) break;
    if (facts.tree().class_of(n) == EventClass::op) found = n;
  }
  return found;
}

// "before aten::_foreach_mul_ in Optimizer.step#SGD.step": where the trace has no stacks, the annotation around says most.
std::string place_of(const Facts& facts, NodeId node, bool inside) {
  const std::string name = (inside ? "in " : "before ") + std::string(facts.name(node));
  if (const std::string_view place = facts.location(node); !place.empty()) return name + " at " + std::string(place);
  NodeId around = node;
  while (around != kNoNode && facts.tree().class_of(around) != EventClass::annotation)
    around = facts.tree().parent[around.value];
  if (around == kNoNode) return name;
  const std::string_view mark = facts.name(around);
  const bool says_nothing = mark.starts_with("ProfilerStep#") || mark.starts_with("## ") || mark.starts_with("Torch-Compiled");
  return says_nothing ? name : name + " in " + std::string(mark);
}

// "1 pause in one of 5 iterations: whether it comes again this recording does not tell"; else how many an iteration.
std::string how_often(const Facts& facts, std::int64_t count, std::string_view noun, bool once) {
  if (!once) return per_iteration(facts, count, noun);
  const std::int64_t programs = facts.ledger().rounds() / facts.ledger().iterations();
  const std::int64_t each = (count + programs - 1) / programs;
  return counted(each, noun) + fmt::format(" in one of {} iterations: whether {} again this recording does not tell",
                                           facts.ledger().iterations(), each == 1 ? "it comes" : "they come");
}

// How long the device waited for one launch: the recorder's part of it stands before the host's own.
std::int64_t late_ns(const std::vector<IdleSlot>& slots, std::size_t i) {
  const IdlePiece& piece = slots[i].piece;
  const bool with_recorder =
      i > 0 && slots[i - 1].piece.cause == IdleCause::recorder && slots[i - 1].piece.end_ns == piece.start_ns;
  return piece.length() + (with_recorder ? slots[i - 1].piece.length() : 0);
}

// Two lists of what happened per iteration say that once.
std::string both(const std::string& first, const std::string& second) {
  constexpr std::string_view kEach = "per iteration: ";
  return first + "; " + (first.starts_with(kEach) && second.starts_with(kEach) ? second.substr(kEach.size()) : second);
}

}  // namespace

std::optional<Finding> find_host_pause(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts), in_calls(facts, true);
  const LongCalls long_calls(facts.tree());
  std::int64_t calls_ns = 0, other_ns = 0, inside_ns = 0;
  std::set<NodeId> spent_in;                           // ops that took the pauses themselves
  std::set<std::optional<std::size_t>> of_iterations;  // that had one
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::launch || late_ns(facts.ledger().devices()[d].idle, i) < kHostPauseNs) return;
    if (slot.open_ns < kLeastLeftNs) return;  // the pause is another finding's
    const Interval time{slot.piece.start_ns, slot.piece.end_ns};
    const LongCalls::Part part = long_calls.within(slot.piece.node, time);
    const std::int64_t got = claim.take_idle(d, i);
    of_iterations.insert(slot.next_work == kNoWork ? std::nullopt : facts.iteration(slot.next_work));
    saturating_add(part.rules(time) ? &calls_ns : &other_ns, got);
    if (part.rules(time)) {
      in_calls.add(part.longest, got, d);
    } else {
      const NodeId busy = busy_with(facts, slot);
      if (busy != kNoNode) {
        spent_in.insert(busy);
        saturating_add(&inside_ns, got);
      }
      tally.add(busy != kNoNode ? busy : at_work(facts, slot), got, d);
    }
  });
  if (!claim.keep()) return std::nullopt;
  const bool once = facts.ledger().iterations() >= kSeveral && of_iterations.size() == 1;
  const std::string pauses = evidence_of(
      facts, tally.tally(), [&](std::uint32_t node) { return place_of(facts, NodeId{node}, spent_in.contains(NodeId{node})); });
  if (calls_ns >= other_ns) {
    return Finding{
        .finding = "the device waits for slow driver calls: " + how_often(facts, in_calls.tally().count(), "call", once),
        .at_most_ns = claim.ns(),
        .confidence = Confidence::medium,
        .evidence = tally.tally().empty() ? in_calls.text() : both(in_calls.text(), pauses),
        .action =
            "the first use of a kernel loads code and sets up libraries: warm up every kernel and shape before recording, or "
            "leave this part out (--step, --from)",
        .event = in_calls.event(),
        .comes_true = once ? 0.0 : 1.0};
  }
  if (inside_ns * 2 >= claim.ns()) {
    return Finding{
        .finding = "long GPU idle while the host is inside an op: " + how_often(facts, tally.tally().count(), "pause", once),
        .at_most_ns = claim.ns(),
        .confidence = Confidence::medium,
        .evidence = in_calls.tally().empty() ? pauses : both(pauses, in_calls.text()),
        .action =
            "these ops take the host long before they launch: a library that plans anew for each new shape does (keep shapes "
            "the same: pad, static caches; or choose another backend), or a CPU computation inside the op",
        .event = tally.event(),
        .comes_true = once ? 0.0 : 1.0};
  }
  return Finding{
      .finding = "long GPU idle while the host does other work: " + how_often(facts, tally.tally().count(), "pause", once),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::low,
      .evidence = in_calls.tally().empty() ? pauses : both(pauses, in_calls.text()),
      .action =
          "find out what the host does there (ridge gaps; record with with_stack=True), then move it out of the loop or to "
          "another thread",
      .event = tally.event(),
      .comes_true = once ? 0.0 : kOfUnknown};
}

}  // namespace ridge
