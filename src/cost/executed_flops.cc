// Looks at the distinct launches for what a causal mask leaves, and at the distinct calls of convolutions.
#include "cost/executed_flops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cost/library/convolution_spaces.h"
#include "cost/own_costs.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// Attention's kernels leave out the tiles that a causal mask hides, and compute those on the diagonal whole: what the mask
// leaves is the least that they execute.
void add_causal(const LaunchCosts& costs, ExecutedFlops* out) {
  for (std::uint32_t i = 0; i < costs.costs.size(); ++i) {
    const LaunchCost& cost = costs.costs[i];
    if (cost.flops && cost.flops_causal && *cost.flops_causal < *cost.flops) out->of_cost.emplace(i, cost.flops_causal);
  }
}

}  // namespace

ExecutedFlops build_executed_flops(const Model& model, const LaunchCosts& costs) {
  ExecutedFlops out;
  add_causal(costs, &out);
  const Trace& trace = model.trace();
  std::vector<std::pair<const CostedCall*, const OpFormula*>> convolutions;
  for (const CostedCall& call : costs.calls) {
    const OpFormula* formula = find_op(call.call.op);
    if (formula != nullptr && formula->family == OpFamily::convolution) convolutions.emplace_back(&call, formula);
  }
  if (convolutions.empty()) return out;
  const DeviceWorkTable work = device_work(trace);
  std::vector<std::optional<std::uint32_t>> row_of(costs.costs.size());
  for (std::uint32_t row = 0; row < costs.of_row.size(); ++row) {
    if (auto& first = row_of[costs.of_row[row]]; !first) first = row;
  }
  for (const auto& [each, formula] : convolutions) {
    const CostedCall& call = *each;
    std::vector<KernelFacts> facts(call.launches);
    std::vector<CallLaunch> launches;
    for (std::uint32_t i = 0; i < call.launches && row_of[call.first_cost + i]; ++i) {
      const EventId event = work.events[*row_of[call.first_cost + i]];
      const std::string_view name = trace.text(trace.events.name(event));
      facts[i] = facts_of(name);
      launches.push_back({name, &facts[i], dim3_at(trace, work.grid, event), dim3_at(trace, work.block, event)});
    }
    if (std::ranges::none_of(launches, names_transform, &CallLaunch::kernel)) continue;
    const auto found = transformed_launches(*formula, call.call, launches);
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      if (found[i].transformed) out.of_cost.emplace(call.first_cost + i, found[i].flops);
    }
  }
  return out;
}

}  // namespace ridge
