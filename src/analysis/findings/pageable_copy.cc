// pageable_copy: copies between the device and host memory that is not pinned. The driver stages them and the host waits; with pinned memory and
// non_blocking=True they can run behind computation, so that at most all of their time goes.
#include <unordered_set>

#include "analysis/findings/catalog.h"

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
      if (facts.work().bytes.integer(facts.work().events[slot.work.row]).value_or(0) <= kStagedBytes) return;
      slots_.emplace_back(d, i);
      const NodeId launch = facts.launch(slot.work.row);
      if (launch == kNoNode) return;
      nodes_.insert(launch.value);
      if (const NodeId op = facts.nearest_op(launch); op != kNoNode) nodes_.insert(op.value);
    });
  }
  const std::vector<std::pair<std::size_t, std::size_t>>& slots() const { return slots_; }
  // Whether a stall is one of these copies, or the wait behind it in the same op.
  bool causes(NodeId stall) const {
    if (stall == kNoNode) return false;
    if (nodes_.contains(stall.value)) return true;
    const NodeId op = facts_.nearest_op(stall);
    return op != kNoNode && nodes_.contains(op.value);
  }

 private:
  Facts& facts_;
  std::vector<std::pair<std::size_t, std::size_t>> slots_;
  std::unordered_set<std::uint32_t> nodes_;
};

}  // namespace

std::optional<Finding> find_pageable_copy(Facts& facts) {
  const PageableCopies copies(facts);
  if (copies.slots().empty()) return std::nullopt;
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  for (const auto& [d, i] : copies.slots()) {
    const std::uint32_t row = facts.ledger().devices()[d].work[i].work.row;
    tally.add(row, claim.take_work(d, i));
  }
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    if (slot.piece.cause == IdleCause::copy_wait && copies.causes(slot.piece.node)) claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  const bool to_host = facts.kernel(tally.tally().top().front().sample).find("DtoH") != std::string_view::npos;
  return Finding{
      .finding = "copies between the device and pageable host memory hold up both",
      .saves_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action =
          to_host ? "leave the results on the device, or copy them into pinned memory with non_blocking=True and read them an "
                    "iteration later"
                  : "pin the host memory (pin_memory=True in the DataLoader, or tensor.pin_memory()) and copy with "
                    ".to(device, non_blocking=True)",
      .event = tally.event()};
}

}  // namespace ridge
