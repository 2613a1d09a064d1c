// pageable_copy: copies between the device and host memory that is not pinned. The driver stages them and the host waits. From
// pinned memory the same bytes cross at the speed of the link, and with non_blocking=True behind computation: what that
// computation cannot cover stays.
#include <algorithm>
#include <unordered_set>

#include "analysis/copies/copies.h"
#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "base/saturating.h"
#include "device/host_link.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

// Up to this size the driver takes the data over at once and the host goes on.
constexpr std::int64_t kStagedBytes = 64 << 10;

class PageableCopies {
 public:
  explicit PageableCopies(Facts& facts) : facts_(facts) {
    const NameFlags pageable(facts.trace(), [](std::string_view name) { return name.find("Pageable") != name.npos; });
    if (!pageable.any()) return;
    for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
      if (slot.work.sort != WorkSort::copy || !pageable[facts.kernel_id(slot.work.row)]) return;
      const NodeId launch = facts.launch(slot.work.row);
      if (facts.kernel(slot.work.row).find("HtoD") != std::string_view::npos) waited_for_.push_back(launch);
      if (bytes_of(facts, slot) <= kStagedBytes) return;
      slots_.emplace_back(d, i);
      if (launch == kNoNode) return;
      nodes_.insert(launch.value);
      if (const NodeId op = facts.nearest_op(launch); op != kNoNode) nodes_.insert(op.value);
    });
  }
  static std::int64_t bytes_of(const Facts& facts, const WorkSlot& slot) {
    return facts.work().bytes.integer(facts.work().events[slot.work.row]).value_or(0);
  }
  const std::vector<std::pair<std::size_t, std::size_t>>& slots() const { return slots_; }
  // A batch is pinned as a whole, the small tensors of it too, and the host waits for none of it any more.
  HostGone waits_to_device() const {
    HostGone gone(facts_);
    for (const NodeId launch : waited_for_) {
      gone.add_wait(launch);
      gone.add_wait(wait_behind(launch));
    }
    return gone;
  }
  // Whether a stall is one of these copies, or the wait behind it in the same op.
  bool causes(NodeId stall) const {
    if (stall == kNoNode) return false;
    if (nodes_.contains(stall.value)) return true;
    const NodeId op = facts_.nearest_op(stall);
    return op != kNoNode && nodes_.contains(op.value);
  }

 private:
  // The copy of an op waits in a call of its own, the next behind that which issued it.
  NodeId wait_behind(NodeId launch) const {
    const CallTree& tree = facts_.tree();
    const NodeId op = launch == kNoNode || launch.value >= tree.recorded ? kNoNode : facts_.nearest_op(launch);
    if (op == kNoNode) return kNoNode;
    const HostThread& thread = tree.threads[thread_of(tree, launch)];
    for (std::uint32_t n = launch.value + 1; n < std::min(thread.first + thread.count, tree.recorded); ++n) {
      if (tree.start_ns[n] >= tree.end_ns[op.value]) break;
      if (tree.event_class[n] != EventClass::launch) continue;
      return facts_.name(NodeId{n}).find("Synchronize") == std::string_view::npos ? kNoNode : NodeId{n};
    }
    return kNoNode;
  }

  Facts& facts_;
  std::vector<std::pair<std::size_t, std::size_t>> slots_;
  std::vector<NodeId> waited_for_;  // launches of copies to the device
  std::unordered_set<std::uint32_t> nodes_;
};

// The least that a device's copies would take from pinned memory, as a bound: by the link's peak, or by the fastest copy of the
// trace if that is faster.
class PinnedTimes {
 public:
  PinnedTimes(const Facts& facts, const PageableCopies& copies)
      : facts_(facts),
        to_device_(facts.trace(), [](std::string_view name) { return goes(name, "HtoD"); }),
        to_host_(facts.trace(), [](std::string_view name) { return goes(name, "DtoH"); }),
        devices_(facts.ledger().devices().size()) {
    for (std::size_t d = 0; d < devices_.size(); ++d) look_at_link(d);
    for (const auto& [d, i] : copies.slots()) {
      const WorkSlot& slot = facts.ledger().devices()[d].work[i];
      const StringId name = facts.kernel_id(slot.work.row);
      if (to_device_[name]) devices_[d].to_device_ns += crossing_ns(d, slot);
    }
  }

  // Of one copy, pinned, with nothing beside it.
  std::int64_t alone_ns(std::size_t device, const WorkSlot& slot) const {
    return static_cast<std::int64_t>(crossing_ns(device, slot));
  }
  // Of one copy to the device: its part of what the device's other work cannot cover.
  std::int64_t stays_ns(std::size_t device, const WorkSlot& slot) const {
    const OfDevice& its = devices_[device];
    if (!to_device_[facts_.kernel_id(slot.work.row)] || its.to_device_ns <= 0) return 0;  // what is kept is not sent at all
    const double uncovered = std::max(0.0, its.to_device_ns - static_cast<double>(its.covers_ns));
    return static_cast<std::int64_t>(crossing_ns(device, slot) * uncovered / its.to_device_ns);
  }

 private:
  struct OfDevice {
    double bytes_per_ns = 0;
    double to_device_ns = 0;
    std::int64_t covers_ns = 0;  // time of computation and communication
  };

  static bool goes(std::string_view name, std::string_view direction) {
    return copy_kind(name, DeviceWork::copy).direction == direction;
  }

  double crossing_ns(std::size_t device, const WorkSlot& slot) const {
    return static_cast<double>(PageableCopies::bytes_of(facts_, slot)) / devices_[device].bytes_per_ns;
  }

  void look_at_link(std::size_t d) {
    const DeviceLedger& ledger = facts_.ledger().devices()[d];
    const DeviceSpec* spec = facts_.scope().costs().device(ledger.device);
    const DeviceProperties* properties = facts_.properties(ledger.device);
    const std::string_view name = spec != nullptr ? spec->name : properties != nullptr ? properties->name : std::string_view();
    OfDevice& its = devices_[d];
    its.bytes_per_ns =
        host_link_bytes_per_s(name, properties != nullptr ? properties->compute_major.value_or(0) : 0) / kNsPerSecond;
    for (const WorkSlot& slot : ledger.work) {
      if (slot.work.sort == WorkSort::compute || slot.work.sort == WorkSort::comm)
        saturating_add(&its.covers_ns, slot.owned_ns);
      const StringId kernel = facts_.kernel_id(slot.work.row);
      const std::int64_t bytes = PageableCopies::bytes_of(facts_, slot), ns = slot.work.end_ns - slot.work.start_ns;
      if (slot.work.sort != WorkSort::copy || bytes <= kStagedBytes || ns <= 0) continue;
      if (!to_device_[kernel] && !to_host_[kernel]) continue;
      its.bytes_per_ns = std::max(its.bytes_per_ns, static_cast<double>(bytes) / static_cast<double>(ns));
    }
  }

  static constexpr double kNsPerSecond = 1e9;

  const Facts& facts_;
  NameFlags to_device_, to_host_;
  std::vector<OfDevice> devices_;
};

}  // namespace

std::optional<Finding> find_pageable_copy(Facts& facts) {
  const PageableCopies copies(facts);
  if (copies.slots().empty()) return std::nullopt;
  const PinnedTimes pinned(facts, copies);
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  // At most the copies run beside other work; pinning alone does not bring that about.
  std::int64_t expected_ns = 0, claimed_ns = 0;
  for (const auto& [d, i] : copies.slots()) {
    const WorkSlot& slot = facts.ledger().devices()[d].work[i];
    tally.add(slot.work.row, slot.open_ns);
    saturating_add(&expected_ns, std::max<std::int64_t>(0, slot.open_ns - pinned.alone_ns(d, slot)));
    saturating_add(&claimed_ns, claim.take_work(d, i, slot.open_ns - pinned.stays_ns(d, slot)));
  }
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause == IdleCause::copy_wait && copies.causes(slot.piece.node)) claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  const bool to_host = facts.kernel(tally.tally().top().front().sample).find("DtoH") != std::string_view::npos;
  return Finding{
      .finding = "copies from or to pageable host memory block host and device",
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action = to_host ? "keep the results on the device, or copy them to pinned memory with non_blocking=True and read them "
                          "one iteration later"
                        : "pin the host memory (pin_memory=True in the DataLoader, or tensor.pin_memory()) and copy with "
                          ".to(device, non_blocking=True)",
      .event = tally.event(),
      .comes_true = claimed_ns > 0 ? std::min(1.0, static_cast<double>(expected_ns) / static_cast<double>(claimed_ns)) : 1,
      .gone = copies.waits_to_device().removal()};
}

}  // namespace ridge
