// OwnCosts: the costs of device work that tells by itself what it moves, whatever op launched it: copies and sets by their
// bytes, collectives by their arguments, Triton's kernels by their arguments and source. Equal launches are worked out once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cost/cost_model.h"
#include "cost/launch_costs.h"
#include "cost/library/op_signatures.h"
#include "cost/roof/device_limits.h"
#include "model/collective_args.h"
#include "trace/args.h"
#include "trace/tables.h"

namespace ridge {

// What two launches have in common whose costs are equal.
using CostKey = std::vector<std::uint32_t>;
struct CostKeyHash {
  std::size_t operator()(const CostKey& key) const {
    std::uint64_t h = 0x9E3779B97F4A7C15 + key.size();
    for (const std::uint32_t word : key) h = mix64(h ^ word, 0xD6E8FEB86659FD93);
    return h;
  }
};

std::optional<Dim3> dim3_at(const Trace& trace, const ArgColumn& column, EventId event);

// Each returns the index of the cost in `result`, to which it adds new ones.
class OwnCosts {
 public:
  OwnCosts(const Model& model, const CostOptions& options, const DeviceLimits& limits, OpSignatures* signatures,
           LaunchCosts* result);

  std::uint32_t copy(EventId event, DeviceWork kind);
  std::uint32_t collective(std::size_t row);
  std::uint32_t triton(std::size_t row, NodeId op_node);

 private:
  std::uint32_t keep(const LaunchCost& cost);
  const std::string* source(StringId file, StringId hash);

  const Model& model_;
  const CostOptions& options_;
  const DeviceLimits& limits_;
  const Trace& trace_;
  DeviceWorkTable work_;
  OpSignatures& signatures_;
  LaunchCosts& result_;
  std::optional<CollectiveReader> collectives_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> moved_;
  std::unordered_map<CostKey, std::uint32_t, CostKeyHash> copies_, triton_;
  std::unordered_map<StringId, std::optional<std::string>> sources_;
};

}  // namespace ridge
