// The three readings, and what is kept between equal launches.
#include "cost/own_costs.h"

#include <algorithm>
#include <string_view>

#include "cost/triton/kernel_source.h"
#include "cost/triton/triton_cost.h"

namespace ridge {

std::optional<Dim3> dim3_at(const Trace& trace, const ArgColumn& column, EventId event) {
  const auto text = column.text(event);
  return text ? parse_dim3(trace.text(*text)) : std::nullopt;
}

OwnCosts::OwnCosts(const Model& model, const CostOptions& options, const DeviceLimits& limits, OpSignatures* signatures,
                   LaunchCosts* result)
    : model_(model),
      options_(options),
      limits_(limits),
      trace_(model.trace()),
      work_(device_work(trace_)),
      signatures_(*signatures),
      result_(*result) {}

std::uint32_t OwnCosts::keep(const LaunchCost& cost) {
  result_.costs.push_back(cost);
  return static_cast<std::uint32_t>(result_.costs.size() - 1);
}

std::uint32_t OwnCosts::copy(EventId event, DeviceWork kind) {
  const auto bytes = work_.bytes.number(event);
  if (!bytes || !(*bytes >= 0)) return 0;
  const StringId name = trace_.events.name(event);
  const CostKey key{name.value, static_cast<std::uint32_t>(kind == DeviceWork::set),
                    static_cast<std::uint32_t>(static_cast<std::uint64_t>(std::min(*bytes, 9e18)) >> 32),
                    static_cast<std::uint32_t>(static_cast<std::uint64_t>(std::min(*bytes, 9e18)))};
  const auto [it, is_new] = copies_.try_emplace(key, 0U);
  if (!is_new) return it->second;
  LaunchCost cost;
  cost.flops = cost.bytes_read = cost.bytes_written = 0;
  cost.estimate = Estimate::exact;
  const std::string_view text = trace_.text(name);
  const bool from_host = text.find("HtoD") != std::string_view::npos || text.find("HostToDevice") != std::string_view::npos;
  const bool to_host = text.find("DtoH") != std::string_view::npos || text.find("DeviceToHost") != std::string_view::npos;
  if (kind != DeviceWork::set && !from_host) cost.bytes_read = bytes;
  if (!to_host) cost.bytes_written = bytes;
  return it->second = keep(cost);
}

// A collective moves data: no FLOPs by PyTorch's convention. Bytes: what the rank gives and what it gets, each once; how much
// more of it this device's memory sees depends on the algorithm.
std::uint32_t OwnCosts::collective(std::size_t row) {
  if (!collectives_) collectives_.emplace(model_);
  const CollectiveArgs args = collectives_->read(row);
  const auto [it, is_new] = moved_.try_emplace({args.given_bytes.value_or(-1), args.got_bytes.value_or(-1)}, 0U);
  if (!is_new) return it->second;
  LaunchCost cost;
  cost.flops = 0;
  if (args.given_bytes) cost.bytes_read = static_cast<double>(*args.given_bytes);
  if (args.got_bytes) cost.bytes_written = static_cast<double>(*args.got_bytes);
  cost.estimate = args.bytes() ? Estimate::ambiguous : Estimate::exact;
  return it->second = keep(cost);
}

std::uint32_t OwnCosts::triton(std::size_t row, NodeId op_node) {
  const KernelIdentities& identities = model_.identities();
  const CallTree& tree = model_.tree();
  const EventId event = work_.events[row];
  const bool has_op = op_node != kNoNode;
  const EventId op = has_op ? tree.event[op_node.value] : kNoEvent;
  const OpTable& table = signatures_.table();
  const auto text = [&](const ArgColumn& column) { return has_op ? column.text(op).value_or(StringId{}) : StringId{}; };
  const StringId file = text(table.kernel_file), hash = text(table.kernel_hash), kwargs = text(table.kernel_kwargs);
  const StringId name = trace_.events.name(event), grid = work_.grid.text(event).value_or(StringId{});
  const std::uint32_t signature = has_op ? signatures_.of(op) + 1 : 0;
  const CostKey key{name.value, signature,  grid.value,  work_.block.text(event).value_or(StringId{}).value,
                    file.value, hash.value, kwargs.value};
  const auto [it, is_new] = triton_.try_emplace(key, 0U);
  if (!is_new) return it->second;
  TritonLaunch launch;
  launch.kernel = trace_.text(name);
  launch.call = has_op ? &signatures_.call(signature - 1) : nullptr;
  launch.identity = &identities[row];
  launch.kernel_kwargs = trace_.text(kwargs);
  if (has_op) {
    launch.kernel_flop = table.kernel_flop.number(op);
    launch.kernel_num_gb = table.kernel_num_gb.number(op);
  }
  launch.grid = dim3_at(trace_, work_.grid, event);
  launch.block = dim3_at(trace_, work_.block, event);
  launch.source = source(file, hash);
  launch.cache = limits_.cache;
  LaunchCost cost = triton_cost(launch);
  if (cost.dtype == DType::unknown) cost.dtype = options_.dtype;
  if (cost.dtype == DType::f32 && options_.tf32 && identities[row].category == Category::triton_template)
    cost.dtype = DType::tf32;
  const auto volume = [](const std::optional<Dim3>& d) {
    return d ? static_cast<double>(d->x) * static_cast<double>(d->y) * static_cast<double>(d->z) : 0.0;
  };
  it->second = keep(cost);
  result_.kernels.push_back({launch.kernel, it->second, identities[row].category, volume(launch.grid), volume(launch.block)});
  return it->second;
}

const std::string* OwnCosts::source(StringId file, StringId hash) {
  if (options_.sources == nullptr || file == StringId{}) return nullptr;
  const auto [it, is_new] = sources_.try_emplace(file);
  if (is_new) it->second = options_.sources->find(trace_.text(file));
  const SourceMatch match = match_source(it->second, trace_.text(hash));
  return it->second && (match == SourceMatch::matches || match == SourceMatch::unknown) ? &*it->second : nullptr;
}

}  // namespace ridge
