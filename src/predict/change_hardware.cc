// Device work by what it has to do: another dtype, another device, another batch. A kernel stays as far from its roof as it is,
// and what is not more than a launch takes does not change.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/dtype.h"
#include "base/saturating.h"
#include "base/time_limits.h"
#include "device/device.h"
#include "kernel_names/category.h"
#include "model/phases.h"
#include "predict/change_functions.h"

namespace ridge {
namespace {

constexpr std::int64_t kFloorNs = 2'000;  // of a kernel, whatever it does

// What lies above the floor, times `ratio`.
std::int64_t scaled(std::int64_t time_ns, double ratio) {
  const std::int64_t floor = std::min(time_ns, kFloorNs);
  constexpr auto kMost = static_cast<double>(kLongestDurationNs);
  return floor + std::lround(std::min(static_cast<double>(time_ns - floor) * ratio, kMost));
}

const DeviceSpec* device_of(const ChangeContext& context, std::uint32_t node) {
  return context.scope.costs().device(context.graph.lane_of(node).device_id);
}

bool is_matrix(const ChangeContext& context, std::uint32_t row, const LaunchCost& cost) {
  const Category category = context.scope.model().identities()[row].category;
  return cost.matrix || category == Category::gemm || category == Category::conv || category == Category::attention ||
         category == Category::triton_template;
}

struct Scaled {
  std::int64_t changed = 0, unknown = 0;
  std::int64_t unknown_ns = 0, all_ns = 0;

  // So little that the answer does not rest on it.
  bool is_mostly_known() const { return unknown_ns <= all_ns / 20; }
  std::string text() const {
    std::string out = fmt::format("{} kernels scaled by their roofs", changed);
    if (unknown > 0 && all_ns > 0)
      out += fmt::format("; {} with {:.0f} % of kernel time as they are: their work is not known", unknown,
                         100.0 * static_cast<double>(unknown_ns) / static_cast<double>(all_ns));
    return out;
  }
};

// Each kernel by the ratio of two roofs: f(row, cost, device) gives the other cost and device, or nothing when it stays.
template <class F>
Scaled scale_by_roofs(const ChangeContext& context, StepTimes* times, F other) {
  Scaled out;
  const StepGraph& graph = context.graph;
  for (std::uint32_t node = graph.first_device; node < graph.size(); ++node) {
    if (graph.kind[node] != StepKind::kernel) continue;
    const std::uint32_t row = graph.source[node];
    std::int64_t& duration = times->duration_ns[node];
    saturating_add(&out.all_ns, duration);
    LaunchCost cost = context.scope.costs()[row];
    const DeviceSpec* device = device_of(context, node);
    const bool matrix = is_matrix(context, row, cost);
    const auto time = static_cast<double>(duration);
    const std::optional<double> before = roof_of(cost, matrix, time, 1, device).roof_ns;
    const DeviceSpec* new_device = device;
    if (before && !other(&cost, &new_device)) continue;
    const std::optional<double> after = before ? roof_of(cost, matrix, time, 1, new_device).roof_ns : std::nullopt;
    if (!before || !after || *before <= 0) {
      ++out.unknown;
      saturating_add(&out.unknown_ns, duration);
      continue;
    }
    ++out.changed;
    duration = scaled(duration, *after / *before);
  }
  return out;
}

}  // namespace

ChangeEffect change_dtype(const Change& change, const ChangeContext& context, StepTimes* times) {
  const DType to = parse_dtype(change.value);
  const Scaled done = scale_by_roofs(context, times, [&](LaunchCost* cost, const DeviceSpec**) {
    const double before = item_bytes(cost->dtype), after = item_bytes(to);
    if (cost->dtype == DType::unknown || before <= after) return false;
    if (cost->bytes_read) *cost->bytes_read *= after / before;
    if (cost->bytes_written) *cost->bytes_written *= after / before;
    cost->dtype = to;
    return true;
  });
  return {.matches = done.changed,
          .basis = done.text() + "; casts, and what must stay in float32, are not counted",
          .uncertain = 0.4,
          .unknown = done.changed == 0 && !done.is_mostly_known()};
}

ChangeEffect change_device(const Change& change, const ChangeContext& context, StepTimes* times) {
  const auto device = find_device(change.value);
  if (!device) return {.basis = device.error().message, .unknown = true};
  const Scaled done = scale_by_roofs(context, times, [&](LaunchCost*, const DeviceSpec** to) {
    *to = *device;
    return true;
  });
  return {.matches = done.changed,
          .basis = done.text() + "; the host and its link as they are",
          .uncertain = 0.4,
          .unknown = done.changed == 0};
}

ChangeEffect change_batch(const Change& change, const ChangeContext& context, StepTimes* times) {
  const StepGraph& graph = context.graph;
  const Model& model = context.scope.model();
  const std::vector<Phase> phases = build_phases(model.trace(), model.tree());
  ChangeEffect effect{.uncertain = 0.5};
  for (std::uint32_t node = graph.first_device; node < graph.size(); ++node) {
    const NodeId launch = model.links().launch[graph.source[node]];
    if (launch != kNoNode && phases[launch.value] == Phase::optimizer) continue;
    if (graph.kind[node] == StepKind::comm) continue;
    times->duration_ns[node] = scaled(times->duration_ns[node], change.time.factor);
    ++effect.matches;
  }
  effect.basis = fmt::format(
      "a step of {:g} times as many samples: {} pieces of device work grow with them, the optimizer's and what a "
      "launch takes do not; work on weights alone grows too, though it should not",
      change.time.factor, effect.matches);
  return effect;
}

}  // namespace ridge
