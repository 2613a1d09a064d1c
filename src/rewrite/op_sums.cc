#include "rewrite/op_sums.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

OpSum sum_of(const LaunchCost& cost, std::int64_t duration_ns) {
  OpSum sum{.kernels = 1, .device_ns = duration_ns};
  sum.without_flops = !cost.flops;
  sum.flops = cost.flops.value_or(0);
  const bool known = cost.bytes_read && cost.bytes_written;
  sum.without_bytes = !known;
  if (known) sum.bytes = *cost.bytes_read + *cost.bytes_written;
  return sum;
}

}  // namespace

void OpSum::add(const OpSum& other) {
  kernels += other.kernels;
  without_flops += other.without_flops;
  without_bytes += other.without_bytes;
  device_ns += other.device_ns;
  flops += other.flops;
  bytes += other.bytes;
}

OpSums::OpSums(const CostModel& costs) : node_of_(costs.model().node_of()) {
  const CallTree& tree = costs.model().tree();
  const Trace& trace = costs.model().trace();
  const LaunchLinks& links = costs.model().links();
  const auto& work = trace.of(EventClass::device_work);
  // First which op is the nearest above each node, then who needs a sum: parents stand before their children.
  std::vector<std::uint32_t> above(tree.size(), kNone);
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const NodeId parent = tree.parent[n];
    if (parent != kNoNode) above[n] = tree.class_of(parent) == EventClass::op ? parent.value : above[parent.value];
  }
  index_.assign(tree.size(), kNone);
  for (const NodeId op : links.op) {
    for (std::uint32_t n = op.value; n != kNone && index_[n] == kNone; n = above[n]) index_[n] = 0;
  }
  std::uint32_t count = 0;
  for (std::uint32_t& index : index_) {
    if (index != kNone) index = count++;
  }
  sums_.resize(count);
  for (std::size_t row = 0; row < work.size(); ++row) {
    if (links.op[row] == kNoNode) continue;
    sums_[index_[links.op[row].value]].add(sum_of(costs[row], trace.events.dur_ns(work[row]).value_or(0)));
  }
  for (std::size_t n = tree.size(); n-- > 0;) {
    if (index_[n] != kNone && above[n] != kNone) sums_[index_[above[n]]].add(sums_[index_[n]]);
  }
}

const OpSum* OpSums::of(EventId op) const {
  const NodeId node = node_of_[op];
  return node == kNoNode || index_[node.value] == kNone ? nullptr : &sums_[index_[node.value]];
}

}  // namespace ridge
