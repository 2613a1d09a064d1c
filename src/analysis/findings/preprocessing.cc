// preprocessing: a step begins, and the host works at length before it launches anything: tokenizing, decoding, building
// batches. The device's idle time from the start of the step to its first launch is claimed, of the first step of a trace as of
// any other, where nothing more specific (a data loader, a compilation, a wait) has. Only steps that the program or its frames
// mark have a start.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"

namespace ridge {
namespace {

bool marks_the_start(IterationRule rule) {
  return !is_guess(rule) && rule != IterationRule::runs && rule != IterationRule::optimizer_step &&
         rule != IterationRule::compiled_graph;
}

// From the start of an iteration on the host to the return of its first launch.
struct Lead {
  Interval time;
  NodeId launch = kNoNode;
  std::int64_t claimed_ns = 0;
};

std::vector<Lead> leads_of(const Facts& facts) {
  const Iterations& iterations = facts.model().iterations();
  std::vector<Lead> leads(iterations.list.size());
  for (const DeviceLedger& device : facts.ledger().devices()) {
    for (const WorkSlot& slot : device.work) {
      const NodeId launch = facts.launch(slot.work.row);
      const auto iteration = facts.iteration(slot.work.row);
      if (launch == kNoNode || !iteration) continue;
      Lead& lead = leads[*iteration];
      if (lead.launch != kNoNode && facts.time(lead.launch).start_ns <= facts.time(launch).start_ns) continue;
      lead.launch = launch;
      // What is before a server's first mark belongs to its first step, but is not a part of it.
      const Iteration& step = iterations.list[*iteration];
      const bool server = iterations.rule == IterationRule::server_step;
      lead.time = {server ? std::max(step.start_ns, step.span.start_ns) : step.start_ns, facts.time(launch).end_ns};
    }
  }
  return leads;
}

// What the host did meanwhile: by the line of the user's code, or by op where the trace has no stacks.
class HostWork {
 public:
  explicit HostWork(const Facts& facts) : facts_(facts), stacks_(!facts.trace().of(EventClass::python_frame).empty()) {}

  void add(const Lead& lead) {
    const CallTree& tree = facts_.tree();
    const HostThread& thread = thread_of(lead.launch);
    const auto begin = tree.start_ns.begin() + thread.first;
    const auto first = std::lower_bound(begin, begin + thread.count, lead.time.start_ns);
    std::map<NodeId, std::int64_t> self_ns;  // of slices that lie in it
    for (auto n = static_cast<std::uint32_t>(first - tree.start_ns.begin()); n <= lead.launch.value; ++n) {
      const NodeId node{n};
      const std::int64_t length = std::min(tree.end_ns[n], lead.time.end_ns) - tree.start_ns[n];
      if (const auto parent = self_ns.find(tree.parent[n]); parent != self_ns.end()) parent->second -= length;
      self_ns[node] = length;
    }
    saturating_add(&whole_ns_, lead.time.length());
    for (const auto& [node, ns] : self_ns) note(node, ns);
  }

  std::optional<EventId> event() const { return facts_.event_of(tally_.largest()); }
  std::string text() const {
    const std::string shown = evidence_of(facts_, tally_, [&](std::uint32_t sample) {
      const NodeId node{sample};
      return std::string(stacks_ ? facts_.location(node) : facts_.name(outermost(node)));
    });
    if (shown_ns_ * 2 >= whole_ns_) return shown;
    const std::string hidden = duration_text(facts_, whole_ns_ - shown_ns_);
    return fmt::format("the trace shows nothing for {} of it: record with with_stack=True{}{}", hidden,
                       tally_.empty() ? "" : "; ", tally_.empty() ? "" : shown);
  }

 private:
  const HostThread& thread_of(NodeId node) const {
    const std::vector<HostThread>& threads = facts_.tree().threads;
    const auto it = std::upper_bound(threads.begin(), threads.end(), node.value,
                                     [](std::uint32_t v, const HostThread& t) { return v < t.first; });
    return *(it - 1);
  }
  NodeId outermost(NodeId node) const {
    NodeId op = facts_.nearest_op(node);
    while (op != kNoNode && facts_.tree().op_above(op) != kNoNode) op = facts_.tree().op_above(op);
    return op;
  }
  void note(NodeId node, std::int64_t ns) {
    if (ns <= 0) return;
    if (stacks_) {
      const std::string_view place = facts_.location(node);
      if (place.empty()) return;
      tally_.add(StringId{}, reinterpret_cast<std::uintptr_t>(place.data()), node.value, ns);
      saturating_add(&shown_ns_, ns);
    } else if (const NodeId op = outermost(node); op != kNoNode) {
      tally_.add(facts_.name_id(op), 0, op.value, ns, op == node ? 1 : 0);
      saturating_add(&shown_ns_, ns);
    }
  }

  const Facts& facts_;
  bool stacks_;
  Tally tally_;
  std::int64_t whole_ns_ = 0, shown_ns_ = 0;
};

}  // namespace

std::optional<Finding> find_preprocessing(Facts& facts) {
  if (!marks_the_start(facts.model().iterations().rule)) return std::nullopt;
  std::vector<Lead> leads = leads_of(facts);
  Claim claim(facts.ledger());
  const auto for_each_part = [&](auto f) {
    for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
      if (!is_late(slot.piece.cause) && slot.piece.cause != IdleCause::head_tail) return;
      const auto iteration = facts.model().iterations().at(slot.piece.end_ns - 1);
      if (!iteration) return;
      Lead& lead = leads[*iteration];
      const std::int64_t shared =
          std::min(slot.piece.end_ns, lead.time.end_ns) - std::max(slot.piece.start_ns, lead.time.start_ns);
      if (lead.launch != kNoNode && shared > 0) f(d, i, lead, std::min(shared, slot.open_ns));
    });
  };
  for_each_part([](std::size_t, std::size_t, Lead& lead, std::int64_t ns) { saturating_add(&lead.claimed_ns, ns); });
  HostWork work(facts);
  std::int64_t steps = 0;
  for (const Lead& lead : leads) {
    if (lead.claimed_ns < kHostPauseNs) continue;
    work.add(lead);
    ++steps;
  }
  for_each_part([&](std::size_t d, std::size_t i, const Lead& lead, std::int64_t ns) {
    if (lead.claimed_ns >= kHostPauseNs) claim.take_idle(d, i, ns);
  });
  const std::int64_t all = facts.ledger().iterations();
  if (steps == 0 || steps * 2 < all || !claim.keep()) return std::nullopt;  // one slow start is no habit
  const bool infers = facts.program() == ProgramKind::infers;
  return Finding{
      .finding =
          fmt::format("host work before the first launch of a step: the device waits in {} of {}", steps, counted(all, "step")),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = work.text(),
      .action =
          infers ? "prepare the next request (tokenize, decode, build the batch) in another thread or process while the "
                   "device works on this one, and launch before what can wait"
                 : "prepare the next batch while the device works on this one: in the workers of a DataLoader or a thread of "
                   "your own; launch before what can wait",
      .event = work.event()};
}

}  // namespace ridge
