// allocator: the driver was asked for device memory, or got it back, in steady state. A caching allocator does so in the first
// iteration only, so calls of the first of several iterations are no finding.
//
// A call that the device is still busy with holds the host up as well, and the device later on: all of them go.
#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

bool is_warm_up(const Facts& facts, NodeId node) {
  const Iterations& iterations = facts.model().iterations();
  return iterations.count() > 1 && node != kNoNode && facts.tree().start_ns[node.value] < iterations.list[1].start_ns;
}

// Whether the first iteration has about as many of these calls as those that follow: then it warms nothing up.
bool first_is_like_others(const Facts& facts) {
  constexpr std::int64_t kAlike = 2;
  std::int64_t first = 0, others = 0;
  for (const std::vector<HostStall>& stalls : facts.model().host_stalls().of_thread) {
    for (const HostStall& stall : stalls) {
      if (stall.cause == IdleCause::allocator && facts.scope().holds(stall.node))
        ++(is_warm_up(facts, stall.node) ? first : others);
    }
  }
  return first * (facts.ledger().iterations() - 1) <= kAlike * others;
}

bool runs_on_rocm(const Facts& facts) {
  const NameFlags hip(facts.trace(), [](std::string_view name) { return name.starts_with("hip"); });
  return hip.any() && std::ranges::any_of(facts.trace().of(EventClass::launch),
                                          [&](EventId event) { return hip[facts.trace().events.name(event)]; });
}

// What to do, by who asked the driver. cuDNN's benchmark empties the cache of PyTorch's allocator after each size that it
// tries; vLLM and SGLang do so before they capture a graph.
class AllocatorRemedy {
 public:
  explicit AllocatorRemedy(const Facts& facts) : facts_(facts) {}

  void see(NodeId call, std::int64_t ns) {
    if (call == kNoNode || ns <= 0) return;
    const std::string_view name = facts_.name(call);
    const NodeId op = facts_.known_as(call);
    const bool frees = name.starts_with("cudaFree") || name.starts_with("hipFree");
    const bool convolves = op != kNoNode && facts_.name(op).find("conv") != std::string_view::npos;
    const bool emptied = name.ends_with("): empty_cache");
    (emptied && captures(call) ? captures_ns_ : emptied ? emptied_ns_ : frees && convolves ? tried_ns_ : other_ns_) += ns;
  }

  std::string text() const {
    if (tried_ns_ > emptied_ns_ + other_ns_) {
      return "a convolution tries its algorithms for each new size (torch.backends.cudnn.benchmark) and empties the "
             "allocator's "
             "cache: warm up every size before recording, keep sizes the same, or switch it off";
    }
    if (captures_ns_ > emptied_ns_ + other_ns_)
      return "the cache is emptied before a graph is captured, once for each: no step does so; record what runs behind the "
             "capture";
    const std::string emptied = "remove torch.cuda.empty_cache() from the loop";
    if (emptied_ns_ > tried_ns_ + captures_ns_ + other_ns_) return emptied;
    // Most releases of PyTorch for ROCm have no expandable segments (those for ROCm 7 from 2.11 on may).
    return emptied + " and keep the caching allocator on; if sizes vary, " +
           (runs_on_rocm(facts_) ? "pad them to a few" : "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  }

 private:
  // Below a function or a mark of a server that captures: "_capture_graph", "capture_32_DECODE".
  bool captures(NodeId call) const {
    constexpr int kMostLevels = 256;
    NodeId around = call;
    for (int level = 0; level < kMostLevels && around != kNoNode; ++level, around = facts_.tree().parent[around.value]) {
      const std::string_view name = facts_.name(around);
      if (name.find(": _capture") != std::string_view::npos || name.find(": capture") != std::string_view::npos ||
          name.starts_with("capture_"))
        return true;
    }
    return false;
  }

  const Facts& facts_;
  std::int64_t tried_ns_ = 0, emptied_ns_ = 0, captures_ns_ = 0, other_ns_ = 0;
};

}  // namespace

std::optional<Finding> find_allocator(Facts& facts) {
  Claim claim(facts.ledger());
  HostTally tally(facts, true);
  HostGone gone(facts);
  AllocatorRemedy remedy(facts);
  std::int64_t later = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause != IdleCause::allocator) return;
    later += is_warm_up(facts, slot.piece.node) ? 0 : 1;
    const std::int64_t got = claim.take_idle(d, i);
    tally.add(slot.piece.node, got, d);
    remedy.see(slot.piece.node, got);
  });
  if (later == 0) return std::nullopt;
  const bool alike = first_is_like_others(facts);
  for (const std::vector<HostStall>& stalls : facts.model().host_stalls().of_thread) {
    for (const HostStall& stall : stalls) {
      if (stall.cause == IdleCause::allocator && facts.scope().holds(stall.node) && (alike || !is_warm_up(facts, stall.node)))
        gone.add(stall.node);
    }
  }
  gone.reach(&claim);
  if (!claim.keep()) return std::nullopt;
  gone.reach_all_late(&claim);  // the driver waits for the device in these calls
  const bool one = facts.model().iterations().count() == 1;
  return Finding{.finding = "the device waits while the driver allocates or frees device memory",
                 .at_most_ns = claim.ns(),
                 .confidence = one ? Confidence::medium : Confidence::high,
                 .evidence = tally.text(),
                 .action = remedy.text(),
                 .event = tally.event(),
                 .gone = gone.removal()};
}

}  // namespace ridge
