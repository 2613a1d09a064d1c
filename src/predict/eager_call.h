// EagerCalls: what one call of an op reads and makes, as fusion.h sees it: by its recorded shapes; where there are none by the
// names and grids of its kernels, and what of these tells no size by the time that they took.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/grid_size.h"
#include "cost/launch_costs.h"
#include "facts/scope.h"
#include "model/kernel_identity.h"
#include "ops/op_call.h"
#include "predict/fusion.h"
#include "trace/tables.h"

namespace ridge {

class EagerCalls {
 public:
  using Rows = std::span<const std::uint32_t>;  // of trace.of(device_work): what a call launched, at least one

  // `table`: the trace's device work. `bytes_a_ns`: what the device moves.
  EagerCalls(const Scope& scope, const DeviceWorkTable& table, const GridSizes& grids, double bytes_a_ns)
      : scope_(scope), trace_(scope.trace()), table_(table), grids_(grids), rate_(bytes_a_ns) {}

  // `call`: its arguments where they were recorded, or nullptr. Nothing for what is no part of a flow: several tensors at once
  // already, or an optimizer's.
  std::optional<FlowCall> of(std::string_view op, const OpCall* call, Rows rows, bool compiled) const;

  // A view of its first tensor.
  static FlowCall of_view(const OpCall& call);

 private:
  bool is_generated(std::string_view op, Rows rows) const;
  bool is_aside(Rows rows) const;
  void by_shapes(const OpCall& call, Rows rows, FlowCall* out) const;
  FlowTensor made(const OpCall& call, const std::vector<FlowTensor>& tensors, Rows rows, bool of_library) const;
  void note_sums(std::string_view op, Rows rows, FlowCall* out) const;
  void by_grids(Rows rows, FlowCall* out) const;

  std::string_view kernel(std::uint32_t row) const { return trace_.text(trace_.events.name(table_.events[row])); }
  const KernelIdentity& identity(std::uint32_t row) const { return scope_.model().identities()[row]; }
  const LaunchCost& cost(std::uint32_t row) const { return scope_.costs()[row]; }
  double time_ns(std::uint32_t row) const { return static_cast<double>(trace_.events.dur_ns(table_.events[row]).value_or(0)); }

  const Scope& scope_;
  const Trace& trace_;
  const DeviceWorkTable& table_;
  const GridSizes& grids_;
  double rate_;
};

}  // namespace ridge
