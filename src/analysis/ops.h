// ops: what each op cost, on the host and on the device, as PyTorch's own table has it.
//
// cpu_self: the op's time minus that of the ops and runtime or driver calls right below it; python frames and annotations are no children.
// device_self: the work that this very op launched. Totals add what nested ops have; each call counts its own whole, so totals of different
// rows overlap. flops: of the kernels that the op and nested ones launched, like device_total; unknown where no kernel's are known.
// Work that a graph replayed counts for the op that was recovered for it (model/graph_replays.h), in its device_self and device_total, and in
// recovered_ns, which is part of both; op_from says where it was recovered from. The op around the graph's launch has it in device_total alone.
// device_self over all rows, with those of [no op] and [launched before the window], is all device time of the scope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/kernel_costs.h"
#include "analysis/scope.h"
#include "analysis/scoped_work.h"

namespace ridge {

enum class OpsBy : std::uint8_t { shape, module, location, annotation, phase };

struct OpRow {
  std::string_view op;  // the trace owns it
  std::string detail;   // what OpsBy asks for; empty when not asked, or not known
  std::int64_t count = 0;
  std::int64_t cpu_total_ns = 0, cpu_self_ns = 0, device_total_ns = 0, device_self_ns = 0;
  std::int64_t recovered_ns = 0;
  OpSource op_from = OpSource::none;
  std::int64_t kernels = 0;  // launched by this very op
  std::optional<double> flops;
  bool is_op = true;  // false: device work without an op; it has no count and no host time
};

struct Ops {
  std::optional<OpsBy> by;
  std::vector<OpRow> rows;      // most device_self first, then cpu_self
  std::optional<double> flops;  // of all kernels of the scope, each once
  bool no_shapes = false;       // shapes or stacks were asked for and the trace has none
  bool no_stacks = false;
};

// `autotuned`: without, the device work of the autotuner is left out; the host time of its ops stays.
Ops compute_ops(const Scope& scope, std::optional<OpsBy> by = std::nullopt, WithCosts with = WithCosts::yes,
                Autotuned autotuned = Autotuned::with);
Report report_ops(const Ops& ops);

}  // namespace ridge
