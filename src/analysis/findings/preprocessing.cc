// preprocessing: a step begins, and the host works at length before it launches anything: tokenizing, decoding, building
// batches. The device's idle time from the start of the step to its first launch is claimed, of the first step of a trace as of
// any other, where nothing more specific (a data loader, a compilation, a wait) has. Only steps that the program or its frames
// mark have a start.
//
// The device may still be busy with the step before; then it waits later on, where launches are late. So what the host does by
// itself until its first kernel counts whether the device waits or not: outside of ops, annotations and stalls, as Python does
// it.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "base/saturating.h"
#include "base/units.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

// By itself before the first kernel: less than this is what calling a model takes, and clearing its gradients.
constexpr std::int64_t kLeastOwnNs = 200'000;
constexpr std::int64_t kLeastOwnPart = 10;  // of the iteration

// Handing a tensor from one process to another, by DataLoader's queue: half a millisecond and more on the machine of an H200
// (invoices: 2.7 ms of preparing two tensors became 1.2 ms of fetching them). Who prepares for less than twice that takes a
// thread.
constexpr std::int64_t kHandedOverNs = 550'000;
constexpr double kMostHanded = 0.5, kHandedDoubt = 0.4;

bool marks_the_start(IterationRule rule) {
  return !is_guess(rule) && rule != IterationRule::runs && rule != IterationRule::optimizer_step &&
         rule != IterationRule::compiled_graph;
}

// From the start of an iteration on the host to the return of its first launch.
struct Lead {
  Interval time;
  NodeId launch = kNoNode;
  NodeId kernel = kNoNode;          // launch of the first kernel: copies to the device are part of the preparation
  std::int64_t claimed_ns = 0;      // of the device of which that is most
  std::int64_t own_ns = 0;          // of the host, by itself
  int tensors = 0;                  // that are sent before the first kernel
  std::vector<Interval> goes = {};  // what another process could do: that, and its ops
  std::vector<NodeId> waits = {};   // in these

  // Of what goes: less what handing it over takes.
  double comes_true() const {
    std::int64_t all = 0;
    for (const Interval& part : goes) saturating_add(&all, part.length());
    const auto handed = static_cast<double>(tensors * kHandedOverNs), whole = static_cast<double>(all);
    return handed < kMostHanded * whole ? 1 - handed / whole : 1;
  }

  // Device by device.
  void claim(std::size_t device, std::int64_t ns) {
    if (device != device_) of_device_ns_ = 0;
    device_ = device;
    saturating_add(&of_device_ns_, ns);
    claimed_ns = std::max(claimed_ns, of_device_ns_);
  }

  bool is_long(std::int64_t iteration_ns) const {
    return claimed_ns >= kHostPauseNs || own_ns >= std::max(kLeastOwnNs, iteration_ns / kLeastOwnPart);
  }

 private:
  std::size_t device_ = 0;
  std::int64_t of_device_ns_ = 0;
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
      const bool kernel = slot.work.sort == WorkSort::compute || slot.work.sort == WorkSort::comm;
      if (kernel && (lead.kernel == kNoNode || facts.time(lead.kernel).start_ns > facts.time(launch).start_ns))
        lead.kernel = launch;
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

// What the thread of a step does until the op that launches its first kernel.
class OwnWork {
 public:
  explicit OwnWork(const Facts& facts) : facts_(facts) {}

  // Without what being recorded cost the threads that iterations are marked on: at least a part of it is left.
  std::int64_t iteration_ns() const {
    const std::int64_t all = facts_.ledger().iterations(), span = facts_.ledger().span_ns() / all;
    std::int64_t most = 0;
    for (const RecorderCost& cost : facts_.model().recorder_costs().of_thread) {
      std::int64_t sum = 0;
      for (const Interval& time : facts_.ledger().time().spans.intervals()) sum += cost.between(time.start_ns, time.end_ns);
      most = std::max(most, sum / all);
    }
    return std::max(span - most, span / 4);
  }

  void look_at(Lead* lead) const {
    const CallTree& tree = facts_.tree();
    if (lead->kernel == kNoNode || lead->kernel.value >= tree.recorded) return;
    const std::size_t at = thread_of(tree, lead->kernel);
    std::int64_t end = facts_.time(outermost_op(lead->kernel)).start_ns;
    std::int64_t until = lead->time.start_ns;  // what is before is looked at
    auto stall = stalls_from(at, until);
    const auto stalls_end = facts_.model().host_stalls().of_thread[at].end();
    const auto begin = tree.start_ns.begin() + tree.threads[at].first;
    const auto first = std::lower_bound(begin, begin + tree.threads[at].count, until);
    for (auto n = static_cast<std::uint32_t>(first - tree.start_ns.begin()); n < tree.recorded && tree.start_ns[n] < end; ++n) {
      const EventClass kind = tree.event_class[n];
      const Interval time{tree.start_ns[n], std::min(tree.end_ns[n], end)};
      for (; stall != stalls_end && stall->end_ns <= time.start_ns; ++stall) pass(*stall, end, &until, lead);
      const bool mark = kind == EventClass::annotation && tree.end_ns[n] >= end;  // of the step, or around all of it
      if (mark || time.start_ns < until) continue;
      if (kind == EventClass::python_frame) {
        const std::string_view frame = facts_.name(NodeId{n});
        if (frame.starts_with("nn.Module: ")) end = std::min(end, time.start_ns);
        if (!frame.ends_with(": zero_grad")) continue;
      }
      own(until, time.start_ns, lead);
      if (kind == EventClass::op) lead->goes.push_back(time);
      until = time.end_ns;
    }
    for (; stall != stalls_end && stall->start_ns < end; ++stall) pass(*stall, end, &until, lead);
    own(until, end, lead);
    const RecorderCost& cost = facts_.model().recorder_costs().of_thread[at];
    lead->own_ns -= std::min(lead->own_ns, cost.between(lead->time.start_ns, end));
  }

 private:
  std::vector<HostStall>::const_iterator stalls_from(std::size_t thread, std::int64_t time_ns) const {
    const std::vector<HostStall>& all = facts_.model().host_stalls().of_thread[thread];
    return std::partition_point(all.begin(), all.end(), [&](const HostStall& s) { return s.end_ns <= time_ns; });
  }
  static void own(std::int64_t from, std::int64_t to, Lead* lead) {
    if (to <= from) return;
    lead->own_ns += to - from;
    lead->goes.push_back({from, to});
  }
  // Waits of the preparation go with it; a loader, a compilation, guards are others' findings.
  static void pass(const HostStall& stall, std::int64_t end, std::int64_t* until, Lead* lead) {
    if (stall.cause == IdleCause::sync || stall.cause == IdleCause::copy_wait) {
      lead->waits.push_back(stall.node);
      return;
    }
    if (stall.start_ns > *until) own(*until, std::min(stall.start_ns, end), lead);
    *until = std::max(*until, std::min(stall.end_ns, end));
  }
  NodeId outermost_op(NodeId node) const {
    NodeId found = node;
    for (NodeId n = node; n != kNoNode; n = facts_.tree().parent[n.value]) {
      if (facts_.tree().class_of(n) == EventClass::op) found = n;
    }
    return found;
  }

  const Facts& facts_;
};

// What the host did meanwhile: by the line of the user's code, or by op where the trace has no stacks.
class HostWork {
 public:
  explicit HostWork(const Facts& facts) : facts_(facts), stacks_(!facts.trace().of(EventClass::python_frame).empty()) {}

  void add(const Lead& lead) {
    const CallTree& tree = facts_.tree();
    const HostThread& thread = tree.threads[thread_of(tree, lead.launch)];
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
    const std::int64_t iterations = facts_.ledger().iterations();  // of one program, whose steps are looked at
    const std::string shown = evidence_of(tally_, iterations, [&](std::uint32_t sample) {
      const NodeId node{sample};
      return std::string(stacks_ ? facts_.location(node) : facts_.name(outermost(node)));
    });
    if (shown_ns_ * 2 >= whole_ns_) return shown;
    const std::string hidden = format_duration(static_cast<double>(whole_ns_ - shown_ns_) / static_cast<double>(iterations));
    return fmt::format("the trace shows nothing for {} of it: record with with_stack=True{}{}", hidden,
                       tally_.empty() ? "" : "; ", tally_.empty() ? "" : shown);
  }

 private:
  NodeId outermost(NodeId node) const {
    NodeId op = facts_.nearest_op(node);
    constexpr int kMostLevels = 64;  // that are climbed: a stack may be as deep as a trace is long
    for (int level = 0; level < kMostLevels && op != kNoNode && facts_.tree().op_above(op) != kNoNode; ++level)
      op = facts_.tree().op_above(op);
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

bool is_before(const Facts& facts, NodeId launch, const Lead& lead) {
  return lead.kernel != kNoNode && facts.time(launch).start_ns < facts.time(lead.kernel).start_ns;
}

template <typename F>
void for_each_copy(const Facts& facts, F f) {
  const std::vector<DeviceLedger>& devices = facts.ledger().devices();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (std::size_t i = 0; i < devices[d].work.size(); ++i) {
      const WorkRow& work = devices[d].work[i].work;
      const NodeId launch = facts.launch(work.row);
      const auto iteration = work.sort == WorkSort::copy && launch != kNoNode ? facts.iteration(work.row) : std::nullopt;
      if (iteration) f(d, i, *iteration, launch);
    }
  }
}

void count_tensors(const Facts& facts, std::vector<Lead>* leads) {
  for_each_copy(facts, [&](std::size_t, std::size_t, std::size_t iteration, NodeId launch) {
    Lead& lead = (*leads)[iteration];
    if (is_before(facts, launch, lead)) ++lead.tensors;
  });
}

// Copies to the device before the first kernel of a step are part of what is prepared: who prepares ahead copies ahead.
void reach_copies(const Facts& facts, const std::vector<Lead>& leads, std::int64_t iteration_ns, Claim* claim) {
  for_each_copy(facts, [&](std::size_t d, std::size_t i, std::size_t iteration, NodeId launch) {
    const Lead& lead = leads[iteration];
    if (is_before(facts, launch, lead) && lead.is_long(iteration_ns)) claim->reach_taken_work(d, i);
  });
}

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
  for_each_part([](std::size_t d, std::size_t, Lead& lead, std::int64_t ns) { lead.claim(d, ns); });
  HostWork work(facts);
  HostGone gone(facts);
  const OwnWork own(facts);
  const std::int64_t all = facts.ledger().iterations(), iteration_ns = own.iteration_ns();
  count_tensors(facts, &leads);
  std::int64_t steps = 0;
  double comes_true = 0;  // of each of them
  bool waits = false;
  for (Lead& lead : leads) {
    if (lead.launch == kNoNode || !facts.scope().holds(lead.launch)) continue;
    own.look_at(&lead);
    if (!lead.is_long(iteration_ns)) continue;
    work.add(lead);
    comes_true += lead.comes_true();
    for (const Interval& time : lead.goes) gone.add(lead.kernel, time);
    for (const NodeId wait : lead.waits) gone.add(wait);
    waits = waits || !lead.waits.empty();
    ++steps;
  }
  for_each_part([&](std::size_t d, std::size_t i, const Lead& lead, std::int64_t ns) {
    if (lead.is_long(iteration_ns)) claim.take_idle(d, i, ns);
  });
  gone.reach(&claim);
  // One slow start is no habit: not of several steps, and not where the device waits in one of them alone.
  std::int64_t longest = 0;
  for (const Lead& lead : leads) longest = std::max(longest, lead.claimed_ns);
  const bool once = all > 1 && claim.ns() - longest < facts.ledger().least_ns();
  if (steps == 0 || steps * 2 < all || once || !claim.keep()) return std::nullopt;
  if (waits) gone.reach_all_late(&claim);
  reach_copies(facts, leads, iteration_ns, &claim);
  const bool infers = facts.program() == ProgramKind::infers;
  comes_true /= static_cast<double>(steps);
  Removal host = gone.removal();
  for (Removal::Host& part : host.host) part.share = comes_true;
  return Finding{
      .finding =
          fmt::format("host work before the first launch of a step: the device waits in {} of {}", steps, counted(all, "step")),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = work.text(),
      .action =
          infers
              ? "prepare the next request (tokenize, decode, build the batch) while the device works on this one: in a process "
                "of its own, since a thread shares Python's lock, and of several where that takes longer than the rest of "
                "a step; launch before what can wait"
              : "prepare the next batch while the device works on this one: in the workers of a DataLoader, or a process of "
                "its own (a thread shares Python's lock); launch before what can wait",
      .event = work.event(),
      .comes_true = comes_true,
      .gone = std::move(host),
      .doubt = kHandedDoubt};
}

}  // namespace ridge
