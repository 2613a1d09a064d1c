// optimizer_not_fused: an optimizer step that launches kernel after kernel, per parameter (a loop) or per operation (foreach),
// where one fused kernel updates many parameters in one pass over memory.
#include <algorithm>
#include <map>
#include <set>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "analysis/findings/least_time.h"
#include "base/saturating.h"
#include "base/units.h"

namespace ridge {
namespace {

// A fused step is one launch for hundreds of parameters. Adam by foreach is seven at least, whatever the model; a loop has
// more.
constexpr std::int64_t kLeastLaunches = 6;
constexpr double kOptimizerDoubt = 0.35;  // as of any loop of the host (tiny_kernels.cc)

// Optimizers of torch.optim with a fused form for GPUs; the others (RMSprop, NAdam, ...) and the user's own have none to ask
// for.
constexpr std::string_view kWithFusedForm[] = {"Adam", "AdamW", "SGD"};

struct Step {
  std::set<std::string_view> optimizers;  // "AdamW" of Optimizer.step#AdamW.step
  std::set<NodeId> nodes;                 // these
  std::vector<std::pair<std::size_t, std::size_t>> slots;
  std::map<std::uint32_t, std::int64_t> by_kernel;  // time by name
  std::int64_t foreach_launches = 0;
  bool fused = false;  // a fused optimizer, or a compiled one
};

bool is_triton(Category category) { return category <= Category::triton_other; }
// Matrix products of second-order methods and collectives of sharded ones are no part of an update that could be fused.
bool is_update(Category category) {
  return is_triton(category) || category == Category::elementwise || category == Category::reduction ||
         category == Category::layout || category == Category::optimizer;
}

constexpr std::string_view kStep = "Optimizer.step#";

// The optimizer's step that makes a launch; none where the trace does not say.
NodeId step_of(const Facts& facts, NodeId launch) {
  NodeId n = launch;
  while (n != kNoNode && !facts.name(n).starts_with(kStep)) n = facts.tree().parent[n.value];
  return n;
}
// The class of it.
std::string_view optimizer_of(const Facts& facts, NodeId step) {
  std::string_view name = facts.name(step);
  name.remove_prefix(kStep.size());
  return name.substr(0, name.find('.'));
}

// "RMSprop and NAdam".
std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
  return text;
}

std::string what_to_do(const Step& step) {
  std::vector<std::string_view> with, without;
  for (const std::string_view name : step.optimizers) {
    const bool fused = std::find(std::begin(kWithFusedForm), std::end(kWithFusedForm), name) != std::end(kWithFusedForm);
    (fused ? with : without).push_back(name);
  }
  const std::string foreach = step.foreach_launches == 0 ? " (or at least foreach=True)" : "";
  if (without.empty()) return "create the optimizer with fused=True" + foreach + ", or use torch.compile(optimizer.step)";
  const std::string none = listed(without) + (without.size() == 1 ? " has" : " have") +
                           " no fused version: use torch.compile(optimizer.step)" + foreach;
  return with.empty() ? none : "create " + listed(with) + " with fused=True; " + none;
}

Step optimizer_work(Facts& facts) {
  Step step;
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    if (slot.work.sort != WorkSort::compute || facts.launch(row) == kNoNode ||
        facts.phase(facts.launch(row)) != Phase::optimizer)
      return;
    const KernelIdentity& kernel = facts.identity(row);
    if (!is_update(kernel.category)) return;
    if (kernel.category == Category::optimizer || is_triton(kernel.category) || facts.by_graph_launch(row)) step.fused = true;
    step.foreach_launches += kernel.label.starts_with("foreach") ? 1 : 0;
    saturating_add(&step.by_kernel[facts.kernel_id(row).value], slot.open_ns);
    step.slots.emplace_back(d, i);
    if (const NodeId node = step_of(facts, facts.launch(row)); node != kNoNode) {
      step.nodes.insert(node);
      step.optimizers.insert(optimizer_of(facts, node));
    }
  });
  return step;
}

// Of the host's time in the optimizer's step: a loop over parameters in Python goes as a whole, what is left walks the lists
// once; lists that one foreach op after another walks are still made. Of recorded steps of five optimizers and of their fused
// forms 0.95 and 0.97 of loops, 0.63 to 0.75 of foreach; of SGD, which has half as many ops on its lists, 0.58.
constexpr double kOfLoop = 0.95, kOfForeach = 0.68, kOfForeachSgd = 0.55;

double share_gone(const Step& step, bool loop) {
  const bool sgd = step.optimizers.size() == 1 && *step.optimizers.begin() == "SGD";
  return loop ? kOfLoop : sgd ? kOfForeachSgd : kOfForeach;
}

// A step that holds still for so long does something other than launching: what that is, is host_pause's.
constexpr std::int64_t kHoldsStillNs = 10'000'000;

// The host's time in a step, up to each launch but for what it held still before.
void add_step(const Facts& facts, NodeId step, HostGone* gone) {
  const CallTree& tree = facts.tree();
  const std::int64_t end_ns = tree.end_ns[step.value];
  std::vector<Interval> parts = {{tree.start_ns[step.value], tree.start_ns[step.value]}};
  for (std::uint32_t n = step.value + 1; n < tree.recorded && tree.start_ns[n] < end_ns; ++n) {
    if (tree.parent[n] == kNoNode) break;
    if (tree.event_class[n] != EventClass::launch) continue;
    if (tree.start_ns[n] - parts.back().end_ns >= kHoldsStillNs) parts.push_back({tree.start_ns[n], tree.start_ns[n]});
    parts.back().end_ns = std::max(parts.back().end_ns, tree.end_ns[n]);
  }
  if (end_ns - parts.back().end_ns < kHoldsStillNs) parts.back().end_ns = end_ns;
  if (parts.size() == 1 && parts.back().end_ns == end_ns) return gone->add(step);
  for (const Interval& part : parts) gone->add(step, part);
}

Removal without_host(const HostGone& gone, double share) {
  Removal out;
  for (Removal::Host part : gone.removal().host) {
    part.share = share;
    out.host.push_back(part);
  }
  return out;
}

std::string waits_between(const Facts& facts, std::int64_t ns) {
  return ns == 0 ? "" : ", and the device waits " + duration_text(facts, ns) + " between them";
}

}  // namespace

std::optional<Finding> find_optimizer_not_fused(Facts& facts) {
  const Step step = optimizer_work(facts);
  const auto launches = static_cast<std::int64_t>(step.slots.size());
  if (step.fused || launches < kLeastLaunches * facts.ledger().rounds()) return std::nullopt;
  // One pass over the parameters remains: it is expected to take as long as the longest of the operations that it replaces. At
  // most it takes their traffic: kernels of one small parameter each take longer.
  const auto longest = std::max_element(step.by_kernel.begin(), step.by_kernel.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  for (const auto& [d, i] : step.slots) {
    const WorkSlot& slot = facts.ledger().devices()[d].work[i];
    tally.add(slot.work.row, slot.open_ns);
    if (facts.kernel_id(slot.work.row).value != longest->first) {
      claim.take_work(d, i);
    } else {
      claim.reach_work(d, i, most_gain_ns(facts, slot, facts.ledger().devices()[d].device), 0);
    }
  }
  // Only between two of its kernels: what the host does before the first launch of a step it does for a fused one too.
  const auto in_step = [&](std::uint32_t row) {
    const NodeId launch = facts.launch(row);
    return launch != kNoNode && facts.phase(launch) == Phase::optimizer;
  };
  std::int64_t waited_ns = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool between =
        slot.piece.length() < kHoldsStillNs && (is_late(slot.piece.cause) || slot.piece.cause == IdleCause::kernel_gap);
    if (between && in_step(slot.last_work) && in_step(slot.next_work)) waited_ns += claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  const bool loop = step.foreach_launches * 2 < launches;
  HostGone gone(facts);
  for (const NodeId node : step.nodes) add_step(facts, node, &gone);
  gone.reach(&claim);
  return Finding{.finding = (loop ? "the optimizer launches separate kernels for each parameter: "
                                  : "the optimizer launches one foreach kernel after another: ") +
                            per_iteration(facts, launches, "kernel"),
                 .at_most_ns = claim.ns(),
                 .confidence = loop ? Confidence::high : Confidence::medium,
                 .evidence = tally.text() + waits_between(facts, waited_ns),
                 .action = what_to_do(step),
                 .event = tally.event(),
                 .gone = without_host(gone, share_gone(step, loop)),
                 .doubt = kOptimizerDoubt};
}

}  // namespace ridge
