// ops: what each op cost, on the host and on the device, as PyTorch's own table has it.
//
// cpu_self: the op's time minus that of the ops, annotations and runtime or driver calls right below it; python frames are no
// children. What is one call: table_calls.h. device_self: the work that this very op launched. Totals add what nested ops have;
// each call counts its own whole, so totals of rows overlap. flops: of the kernels that the op and nested ones launched, once
// each in a row, also where an op of the row calls another (autocast runs it again in another dtype), unlike in device_total,
// which is PyTorch's. Unknown where a sum of known ones says nothing. Work that a graph replayed counts for the op that was
// recovered for it (model/graph_replays.h), in its device_self and device_total, and in recovered_ns, which is part of both;
// op_from says where it was recovered from. The op around the graph's launch has it in device_total alone. device_self over all
// rows, with those of [no op] and [launched before the window], is all device time of the scope. All device columns speak of
// that work; count and host time of the calls that begin in the scope: on a device that runs behind, an op may have the one
// without the other. A call whose duration is not known counts, and has no time; nor is it seen what it called and launched,
// which is that of the op around it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "analysis/ops/flop_sum.h"
#include "facts/scope.h"
#include "facts/scoped_work.h"

namespace ridge {

enum class OpsBy : std::uint8_t { shape, module, location, annotation, phase, stage };

struct OpRow {
  std::string_view op;  // the trace owns it
  std::string detail;   // what OpsBy asks for; empty when not asked, or not known
  std::int64_t count = 0;
  std::int64_t timed = 0;  // calls whose duration is known: the host times are theirs
  std::int64_t cpu_total_ns = 0, cpu_self_ns = 0, device_total_ns = 0, device_self_ns = 0;
  std::int64_t recovered_ns = 0;
  OpSource op_from = OpSource::none;
  std::int64_t kernels = 0;  // launched by this very op
  FlopSum flops;
  bool is_op = true;  // false: device work without an op; it has no count and no host time

  bool times_known() const { return timed > 0 || count == 0; }
};

struct Ops {
  std::optional<OpsBy> by;
  std::vector<OpRow> rows;       // most device_self first, then cpu_self
  FlopSum flops;                 // of all kernels of the scope, each once
  bool has_device_work = false;  // in the trace: without any, what ops cost on a device is not known
  bool no_shapes = false;        // shapes or stacks were asked for and the trace has none
  bool no_stacks = false;
};

// `compilers`: without, the calls and the device work of the compiler and of its autotuner are left out, from every column.
Ops compute_ops(const Scope& scope, std::optional<OpsBy> by = std::nullopt, WithCosts with = WithCosts::yes,
                CompilerWorkFilter compilers = CompilerWorkFilter::with);
Report report_ops(const Ops& ops);

// What a user calls the ways to tell ops apart; in the order of OpsBy.
std::span<const std::string_view> ops_by_names();

}  // namespace ridge
