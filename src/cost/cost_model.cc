// Each table is built when first asked for; devices are matched as the trace describes them, unless one was given.
#include "cost/cost_model.h"

#include <map>
#include <utility>

#include "base/heap_bytes.h"
#include "base/stop.h"
#include "cost/executed_flops.h"
#include "cost/launch_costs.h"
#include "cost/roof/device_limits.h"
#include "model/device_properties.h"
#include "model/once.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::string_view kEstimates[] = {"", "exact", "shapes", "source", "ambiguous"};

// Inclusive FLOPs by node of the call tree.
struct NodeFlops {
  std::vector<double> flops;
  std::vector<bool> known;
};

NodeFlops sum_over_tree(const Model& model, const LaunchCosts& costs) {
  const CallTree& tree = model.tree();
  const LaunchLinks& links = model.links();
  NodeFlops sums{std::vector<double>(tree.size()), std::vector<bool>(tree.size())};
  for (std::size_t row = 0; row < links.op.size(); ++row) {
    const NodeId op = links.op[row];
    if (op == kNoNode || !costs[row].flops) continue;
    sums.flops[op.value] += *costs[row].flops;
    sums.known[op.value] = true;
  }
  for (std::size_t n = tree.size(); n-- > 0;) {
    const NodeId parent = tree.parent[n];
    if (parent == kNoNode || !sums.known[n]) continue;
    sums.flops[parent.value] += sums.flops[n];
    sums.known[parent.value] = true;
  }
  return sums;
}

bool is_matrix_work(Category category) {
  return category == Category::gemm || category == Category::conv || category == Category::attention ||
         category == Category::triton_template;
}

}  // namespace

std::string_view name_of(Estimate estimate) { return kEstimates[static_cast<std::size_t>(estimate)]; }

struct CostModel::State {
  explicit State(const Trace& trace) : device_of(trace, ArgKey::device) {}

  ArgColumn device_of;  // the `device` of the events
  Once<LaunchCosts> costs;
  Once<NodeFlops> flops;
  Once<ExecutedFlops> executed;
  std::map<std::int64_t, DeviceSpec> devices;
  std::optional<DeviceSpec> given;
};

CostModel::CostModel(const Model& model, CostOptions options)
    : model_(model), options_(std::move(options)), state_(new State(model.trace())) {
  if (options_.device) state_->given = at_clock(*options_.device, options_.clock_mhz);
  for (const DeviceProperties& properties : model.trace().metadata.devices) {
    const DeviceSpec* spec = match_device(traits_of(properties));
    if (spec != nullptr && properties.id) state_->devices.emplace(*properties.id, at_clock(*spec, options_.clock_mhz));
  }
}
CostModel::~CostModel() = default;

const LaunchCosts& CostModel::costs() const {
  return state_->costs.get([&] {
    Stop::look();
    return build_launch_costs(model_, options_);
  });
}

void CostModel::build() const { costs(); }

const LaunchCost& CostModel::operator[](std::size_t row) const { return costs()[row]; }

Roof CostModel::roof(std::size_t row) const {
  LaunchCost cost = (*this)[row];
  // What holds a collective back is the link between devices, not this one's memory.
  if (model_.identities()[row].category == Category::comm) cost.bytes_read = cost.bytes_written = std::nullopt;
  const ExecutedFlops& executed = state_->executed.get([&] { return build_executed_flops(model_, costs()); });
  const auto own = executed.of_cost.find(costs().of_row[row]);
  // It computes, and how much is not told: neither a percent nor a roof.
  const bool untold = own != executed.of_cost.end() && !own->second;
  if (own != executed.of_cost.end()) cost.flops = own->second;
  const Trace& trace = model_.trace();
  const EventId event = trace.of(EventClass::device_work)[row];
  const std::vector<Device>& devices = model_.timeline().devices;
  const std::int64_t id = state_->device_of.integer(event).value_or(devices.size() == 1 ? devices.front().id : -1);
  const auto duration = trace.events.dur_ns(event);
  const bool matrix_work = cost.matrix || is_matrix_work(model_.identities()[row].category);
  const Roof roof = roof_of(cost, matrix_work, static_cast<double>(duration.value_or(0)), 1, device(id));
  if (!untold) return roof;
  Roof unknown;
  unknown.pct_peak_bandwidth = roof.pct_peak_bandwidth;
  return unknown;
}

std::optional<double> CostModel::flops_of_op(NodeId op) const {
  if (op.value >= model_.tree().size()) return std::nullopt;
  const NodeFlops& flops = state_->flops.get([&] { return sum_over_tree(model_, costs()); });
  return flops.known[op.value] ? std::optional(flops.flops[op.value]) : std::nullopt;
}

std::uint64_t CostModel::memory_bytes() const {
  std::uint64_t bytes = sizeof(State);
  if (const LaunchCosts* made = state_->costs.if_made()) bytes += heap_bytes(made->costs, made->of_row);
  if (const NodeFlops* made = state_->flops.if_made()) bytes += heap_bytes(made->flops, made->known);
  return bytes;
}

const DeviceSpec* CostModel::device(std::int64_t id) const {
  if (state_->given) return &*state_->given;
  auto it = state_->devices.find(id);
  if (it == state_->devices.end()) {
    const DeviceProperties* properties = properties_of(model_, id);
    if (properties != nullptr && properties->id) it = state_->devices.find(*properties->id);
  }
  return it == state_->devices.end() ? nullptr : &it->second;
}

}  // namespace ridge
