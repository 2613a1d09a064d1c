// The table of names, and one walk per thread that keeps the outermost stall. Whether a copy blocks is told by its device work.
#include "model/host_stalls.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/in_parallel.h"
#include "model/cpu_kernels.h"

namespace ridge {
namespace {

enum class Match : std::uint8_t { exact, prefix, suffix, part };

struct StallRule {
  EventClass event_class;
  Match match;
  std::string_view text;
  IdleCause cause;
  std::string_view function = {};  // of a frame: with which its name ends
};

constexpr EventClass kCall = EventClass::launch, kOp = EventClass::op, kAnnotation = EventClass::annotation,
                     kFrame = EventClass::python_frame;

// The first row that fits decides. Copies named Async are not here: whether they block is told by their device work.
constexpr StallRule kRules[] = {
    {kCall, Match::part, "Synchronize", IdleCause::sync},    // cudaStream-, Device-, Event-, cuCtx-, hip...
    {kCall, Match::prefix, "synchronize", IdleCause::sync},  // MTIA
    {kCall, Match::exact, "urQueueFinish", IdleCause::sync},
    {kCall, Match::exact, "urEventWait", IdleCause::sync},
    {kCall, Match::exact, "piEventsWait", IdleCause::sync},
    {kCall, Match::prefix, "cudaMalloc", IdleCause::allocator},
    {kCall, Match::prefix, "cudaFree", IdleCause::allocator},
    {kCall, Match::exact, "cudaHostAlloc", IdleCause::allocator},
    {kCall, Match::exact, "cudaHostRegister", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemCreate", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemMap", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemUnmap", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemRelease", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemAddress", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemSetAccess", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemAlloc", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemFree", IdleCause::allocator},
    {kCall, Match::prefix, "cuMemHostAlloc", IdleCause::allocator},
    {kCall, Match::prefix, "hipMalloc", IdleCause::allocator},
    {kCall, Match::prefix, "hipExtMalloc", IdleCause::allocator},
    {kCall, Match::prefix, "hipFree", IdleCause::allocator},
    {kCall, Match::prefix, "hipHostMalloc", IdleCause::allocator},
    {kCall, Match::prefix, "hipHostFree", IdleCause::allocator},
    {kCall, Match::prefix, "hipMemCreate", IdleCause::allocator},
    {kCall, Match::prefix, "hipMemMap", IdleCause::allocator},
    {kCall, Match::prefix, "hipMemUnmap", IdleCause::allocator},
    {kCall, Match::prefix, "hipMemRelease", IdleCause::allocator},
    {kCall, Match::prefix, "hipMemAddress", IdleCause::allocator},
    {kCall, Match::prefix, "hipMemSetAccess", IdleCause::allocator},
    {kCall, Match::prefix, "zeMemAlloc", IdleCause::allocator},
    {kCall, Match::prefix, "zeMemFree", IdleCause::allocator},
    {kCall, Match::prefix, "urUSM", IdleCause::allocator},
    {kFrame, Match::suffix, "): empty_cache", IdleCause::allocator},
    {kOp, Match::exact, "TorchDynamo Cache Lookup", IdleCause::guards},
    {kOp, Match::suffix, "(dynamo_timed)", IdleCause::compile},
    {kAnnotation, Match::suffix, "(dynamo_timed)", IdleCause::compile},
    {kOp, Match::exact, "entire_frame_compile", IdleCause::compile},
    {kOp, Match::exact, "entire_backward_compile", IdleCause::compile},
    {kOp, Match::exact, "backend_compile", IdleCause::compile},
    {kOp, Match::exact, "inductor_compile", IdleCause::compile},
    {kFrame, Match::part, "torch/_dynamo/convert_frame.py(", IdleCause::compile},
    // The rest of that file (launch_metadata, run) is part of every launch.
    {kFrame, Match::part, "triton/compiler/compiler.py(", IdleCause::compile, "): compile"},
    {kFrame, Match::part, "triton/compiler/compiler.py(", IdleCause::compile, "): make_ir"},
    {kFrame, Match::part, "triton/compiler/compiler.py(", IdleCause::compile, "): parse"},
    {kAnnotation, Match::prefix, "enumerate(DataLoader)", IdleCause::dataloader},
    {kOp, Match::prefix, "enumerate(DataLoader)", IdleCause::dataloader},
    {kFrame, Match::part, "torch/utils/data/dataloader.py(", IdleCause::dataloader},
    // Whoever computes launches late: the kernel is to blame, and not the launch behind it.
    {kFrame, Match::exact, kCpuKernelFrame, IdleCause::launch},
    {kOp, Match::part, kCpuKernelOp, IdleCause::launch},
    {kAnnotation, Match::prefix, "gloo:", IdleCause::dependency},
    {kAnnotation, Match::prefix, "mpi:", IdleCause::dependency},
};

bool fits(const StallRule& rule, std::string_view name) {
  if (!name.ends_with(rule.function)) return false;
  switch (rule.match) {
    case Match::exact: return name == rule.text;
    case Match::prefix: return name.starts_with(rule.text);
    case Match::suffix: return name.ends_with(rule.text);
    default: return name.find(rule.text) != std::string_view::npos;
  }
}

// A name's meaning, per class. Asked once per distinct name and class; threads that ask at the same time find the same.
class StallNames {
 public:
  explicit StallNames(const Trace& trace)
      : trace_(trace), known_(std::make_unique<std::atomic<std::uint8_t>[]>(trace.strings.size() * kSlots)) {}

  std::optional<IdleCause> cause(EventClass c, StringId name) const {
    std::atomic<std::uint8_t>& slot = known_[name.value * kSlots + slot_of(c)];
    std::uint8_t known = slot.load(std::memory_order_relaxed);
    if (known == kNotAsked) slot.store(known = ask(c, trace_.text(name)), std::memory_order_relaxed);
    return known == kNone ? std::nullopt : std::optional(static_cast<IdleCause>(known - kFirst));
  }

 private:
  static constexpr std::size_t kSlots = 4;
  static constexpr std::uint8_t kNotAsked = 0, kNone = 1, kFirst = 2;

  static std::size_t slot_of(EventClass c) { return c == kCall ? 0 : c == kOp ? 1 : c == kAnnotation ? 2 : 3; }

  static std::uint8_t ask(EventClass c, std::string_view name) {
    const auto* rule = std::find_if(std::begin(kRules), std::end(kRules),
                                    [&](const StallRule& r) { return r.event_class == c && fits(r, name); });
    return rule == std::end(kRules) ? kNone : static_cast<std::uint8_t>(static_cast<int>(rule->cause) + kFirst);
  }

  const Trace& trace_;
  std::unique_ptr<std::atomic<std::uint8_t>[]> known_;
};

bool is_blocking_copy_call(std::string_view name) {
  const bool copies = name.starts_with("cudaMemcpy") || name.starts_with("cuMemcpy") || name.starts_with("hipMemcpy");
  return copies && name.find("Async") == std::string_view::npos && name.find("Peer") == std::string_view::npos;
}

// The copies that calls made, by call: whether the call held the host until the data had moved, and to which side.
class CopyCalls {
 public:
  struct Copy {
    bool blocking = false;
    bool to_host = false;
  };

  CopyCalls(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
    const std::span<const EventId> work = trace.of(EventClass::device_work);
    for (std::size_t row = 0; row < work.size(); ++row) {
      const NodeId call = links.launch[row];
      if (call == kNoNode || trace.kind(work[row]).work != DeviceWork::copy) continue;
      const std::string_view name = trace.text(trace.events.name(work[row]));
      const bool device_to_device = name.find("DtoD") != std::string_view::npos || name.find("PtoP") != std::string_view::npos;
      const std::int64_t end = trace.events.ts_ns(work[row]) + trace.events.dur_ns(work[row]).value_or(0);
      // Where the trace does not say "Pinned" or "Pageable", a call that returns behind the copy's end has waited for it.
      const bool waited = name.find("Pinned") == std::string_view::npos && tree.end_ns[call.value] >= end;
      const bool pageable = name.find("Pageable") != std::string_view::npos;
      copies_.push_back({call, {!device_to_device && (pageable || waited), name.find("DtoH") != std::string_view::npos}});
    }
    std::sort(copies_.begin(), copies_.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  }

  const Copy* at(NodeId call) const {
    const auto it =
        std::lower_bound(copies_.begin(), copies_.end(), call, [](const Entry& e, NodeId n) { return e.first < n; });
    return it != copies_.end() && it->first == call ? &it->second : nullptr;
  }
  // The last copy called in [from, call).
  const Copy* last_between(NodeId from, NodeId call) const {
    const auto it =
        std::lower_bound(copies_.begin(), copies_.end(), call, [](const Entry& e, NodeId n) { return e.first < n; });
    return it != copies_.begin() && std::prev(it)->first >= from ? &std::prev(it)->second : nullptr;
  }

 private:
  using Entry = std::pair<NodeId, Copy>;
  std::vector<Entry> copies_;
};

class StallFinder {
 public:
  StallFinder(const Trace& trace, const CallTree& tree, const CopyCalls& copies)
      : trace_(trace), tree_(tree), names_(trace), copies_(copies) {}

  std::vector<HostStall> in(const HostThread& thread) const {
    std::vector<HostStall> stalls;
    const std::uint32_t end = thread.first + thread.count;
    std::int64_t covered_until = INT64_MIN;
    for (std::uint32_t n = thread.first; n < end; ++n) {
      const NodeId node{n};
      const auto cause = cause_of(node);
      const std::int64_t from = std::max(tree_.start_ns[n], covered_until);
      if (!cause || tree_.end_ns[n] <= from) continue;
      stalls.push_back({from, tree_.end_ns[n], node, *cause});
      covered_until = tree_.end_ns[n];
      // What starts inside adds nothing.
      const auto begin = tree_.start_ns.begin();
      const auto next = std::lower_bound(begin + n + 1, begin + end, covered_until);
      n = static_cast<std::uint32_t>(next - begin) - 1;
    }
    return stalls;
  }

 private:
  std::optional<IdleCause> cause_of(NodeId node) const {
    const EventClass c = tree_.class_of(node);
    const StringId name = trace_.events.name(tree_.event[node.value]);
    const auto cause = names_.cause(c, name);
    if (cause == IdleCause::launch && !is_cpu_kernel(trace_, tree_, node)) return std::nullopt;
    if (c != EventClass::launch) return cause;
    if (cause == IdleCause::sync) return waits_for_copy(node) ? IdleCause::copy_wait : IdleCause::sync;
    if (cause) return cause;
    const CopyCalls::Copy* copy = copies_.at(node);
    const bool blocks = copy != nullptr ? copy->blocking || is_blocking_copy_call(trace_.text(name)) : false;
    if (!blocks) return std::nullopt;
    // A copy to the host is a wait for everything queued before it.
    return copy->to_host ? IdleCause::sync : IdleCause::copy_wait;
  }

  // A synchronisation inside an op that has just copied to the device: the second half of a blocking copy.
  bool waits_for_copy(NodeId node) const {
    const NodeId op = tree_.op_of(node);
    if (op == kNoNode) return false;
    const CopyCalls::Copy* copy = copies_.last_between(op, node);
    return copy != nullptr && !copy->to_host;
  }

  const Trace& trace_;
  const CallTree& tree_;
  StallNames names_;
  const CopyCalls& copies_;
};

}  // namespace

HostStalls find_host_stalls(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
  HostStalls stalls;
  stalls.of_thread.resize(tree.threads.size());
  const CopyCalls copies(trace, tree, links);
  const StallFinder finder(trace, tree, copies);
  for_each_index({tree.size()}, tree.threads.size(), [&](std::size_t t) { stalls.of_thread[t] = finder.in(tree.threads[t]); });
  return stalls;
}

}  // namespace ridge
