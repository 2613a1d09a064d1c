// Launches summed at their op, then one pass from the back of the tree adds children to parents.
#include "rewrite/op_sums.h"

#include "base/in_parallel.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

WorkSum sum_of(const LaunchCost& cost, std::int64_t duration_ns) {
  WorkSum sum{.kernels = 1, .device_ns = duration_ns};
  sum.without_flops = !cost.flops;
  sum.flops = cost.flops.value_or(0);
  const bool known = cost.bytes_read && cost.bytes_written;
  sum.without_bytes = !known;
  if (known) sum.bytes = *cost.bytes_read + *cost.bytes_written;
  return sum;
}

}  // namespace

void WorkSum::add(const WorkSum& other) {
  kernels += other.kernels;
  without_flops += other.without_flops;
  without_bytes += other.without_bytes;
  saturating_add(&device_ns, other.device_ns);
  flops += other.flops;
  bytes += other.bytes;
}

OpSums::OpSums(const CostModel& costs) : node_of_(costs.model().node_of()) {
  const CallTree& tree = costs.model().tree();
  const Trace& trace = costs.model().trace();
  const LaunchLinks& links = costs.model().links();
  const auto& work = trace.of(EventClass::device_work);
  // Who needs a sum is known without the costs.
  std::vector<NodeId> ops;
  at_once({trace.events.size()}, [&] { costs.build(); }, [&] { ops = number_ops(tree, links); });
  sums_.resize(ops.size());
  for (std::size_t row = 0; row < work.size(); ++row) {
    if (links.op[row] == kNoNode) continue;
    sums_[index_[links.op[row].value]].own.add(sum_of(costs[row], trace.events.dur_ns(work[row]).value_or(0)));
  }
  for (std::size_t i = ops.size(); i-- > 0;) {  // parents stand before their children
    sums_[i].all.add(sums_[i].own);
    const NodeId above = tree.op_above(ops[i]);
    if (above != kNoNode) sums_[index_[above.value]].all.add(sums_[i].all);
  }
}

// The ops that launched device work and those around them get an index, in the order of the tree, which is that of the result.
std::vector<NodeId> OpSums::number_ops(const CallTree& tree, const LaunchLinks& links) {
  index_.assign(tree.size(), kNone);
  std::uint32_t count = 0;
  for (const NodeId op : links.op) {
    for (NodeId n = op; n != kNoNode && index_[n.value] == kNone; n = tree.op_above(n)) {
      index_[n.value] = 0;
      ++count;
    }
  }
  std::vector<NodeId> ops;
  ops.reserve(count);
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    if (index_[n] == kNone) continue;
    index_[n] = static_cast<std::uint32_t>(ops.size());
    ops.push_back(NodeId{n});
  }
  return ops;
}

const OpSum* OpSums::of(EventId op) const {
  const NodeId node = (*node_of_)[op];
  return node == kNoNode || index_[node.value] == kNone ? nullptr : &sums_[index_[node.value]];
}

}  // namespace ridge
