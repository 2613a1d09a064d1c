// The device's limits as the trace describes it, else by the row that was given; then what they leave to the launch.
#include "cost/roof/launch_occupancy.h"

#include <algorithm>

#include "device/occupancy.h"
#include "model/device_properties.h"

namespace ridge {
namespace {

struct Multiprocessors {
  MultiprocessorLimits each;
  double count = 0;
};

std::optional<Multiprocessors> as_described(const DeviceProperties& properties) {
  if (!properties.compute_major || !properties.compute_minor || properties.multiprocessors.value_or(0) <= 0)
    return std::nullopt;
  const auto known = multiprocessor_limits(*properties.compute_major, *properties.compute_minor);
  if (!known) return std::nullopt;
  Multiprocessors out{*known, static_cast<double>(*properties.multiprocessors)};
  const auto take = [](const std::optional<std::int64_t>& told, std::int64_t* limit) {
    if (told.value_or(0) > 0) *limit = *told;
  };
  take(properties.threads_per_multiprocessor, &out.each.threads);
  take(properties.registers_per_multiprocessor, &out.each.registers);
  take(properties.shared_memory_per_multiprocessor, &out.each.shared_bytes);
  return out;
}

std::optional<Multiprocessors> multiprocessors_of(const CostModel& costs, std::int64_t device) {
  if (const DeviceProperties* properties = properties_of(costs.model(), device)) return as_described(*properties);
  const DeviceSpec* spec = costs.device(device);
  const auto known = spec != nullptr ? multiprocessor_limits(spec->name) : std::nullopt;
  if (!known || spec->multiprocessors <= 0) return std::nullopt;
  return Multiprocessors{*known, static_cast<double>(spec->multiprocessors)};
}

}  // namespace

LaunchOccupancy occupancy_of(const CostModel& costs, const DeviceWorkTable& work, EventId event, std::int64_t device) {
  const Trace& trace = costs.model().trace();
  const auto dim = [&](const ArgColumn& column) {
    const auto text = column.text(event);
    return text ? parse_dim3(trace.text(*text)) : std::nullopt;
  };
  LaunchOccupancy out;
  if (const auto said = work.occupancy_pct.number(event); said && *said > 0) out.pct = said;
  const auto grid = dim(work.grid), block = dim(work.block);
  const auto registers = work.registers_per_thread.integer(event), shared = work.shared_memory.integer(event);
  const bool described = properties_of(costs.model(), device) != nullptr;
  if (out.pct && !described) return out;  // the device that was given may be another one
  const auto limits = multiprocessors_of(costs, device);
  if (!grid || !block || !registers || !shared || !limits) return out;
  const auto product = [](const Dim3& d) {
    return static_cast<double>(d.x) * static_cast<double>(d.y) * static_cast<double>(d.z);
  };
  const double threads = product(*block), blocks = product(*grid);
  if (!(threads >= 1 && threads <= 1024 && blocks >= 1)) return out;
  const auto resident = resident_blocks(
      limits->each,
      {.threads = static_cast<std::int64_t>(threads), .registers_per_thread = *registers, .shared_bytes = *shared});
  if (resident.value_or(0) <= 0) return out;  // it ran: the limits are not this device's
  const double held = static_cast<double>(*resident);
  out.resident_blocks = held * limits->count;
  out.pct = 100 * std::min(held, blocks / limits->count) * threads / static_cast<double>(limits->each.threads);
  return out;
}

}  // namespace ridge
