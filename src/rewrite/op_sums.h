// OpSums: per op call, the device work launched inside it, nested ops included, which augment writes as `ridge`; and apart that
// which the op itself launched, which PyTorch's script writes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cost/cost_model.h"

namespace ridge {

struct WorkSum {
  std::uint32_t kernels = 0;  // kernels, copies and sets
  std::uint32_t without_flops = 0, without_bytes = 0;
  std::int64_t device_ns = 0;
  double flops = 0, bytes = 0;

  void add(const WorkSum& other);
};

struct OpSum {
  WorkSum all, own;
};

class OpSums {
 public:
  explicit OpSums(const CostModel& costs);

  // nullptr for an op that launched nothing.
  const OpSum* of(EventId op) const;

 private:
  std::vector<NodeId> number_ops(const CallTree& tree, const LaunchLinks& links);

  std::shared_ptr<const NodeOfEvent> node_of_;
  std::vector<std::uint32_t> index_;  // by node; kNone: no sum
  std::vector<OpSum> sums_;
};

}  // namespace ridge
