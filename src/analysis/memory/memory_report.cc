// The tables and curves of `memory`: what compute_memory found, as a Report.
#include "analysis/memory/memory.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"

namespace ridge {
namespace {

Table ops_table(const Memory& memory) {
  Table table;
  table.name = "memory";
  table.columns = {{"device", Type::text},
                   {"op", Type::text},
                   {"allocations", Type::integer, Unit::count},
                   {"allocated_bytes", Type::integer, Unit::bytes},
                   {"frees", Type::integer, Unit::count},
                   {"freed_bytes", Type::integer, Unit::bytes},
                   {"peak_bytes", Type::integer, Unit::bytes}};
  MemoryOp total;
  for (const MemoryDevice& d : memory.devices) {
    for (const MemoryOp& op : d.ops) {
      table.add_row(
          {d.device, op.op, op.allocations, op.allocated_bytes, op.frees, op.freed_bytes, cells::integer(op.peak_bytes)});
      total.allocations += op.allocations;
      saturating_add(&total.allocated_bytes, op.allocated_bytes);
      total.frees += op.frees;
      saturating_add(&total.freed_bytes, op.freed_bytes);
    }
  }
  if (!table.empty()) {
    table.total = Row{Cell(), Cell(), total.allocations, total.allocated_bytes, total.frees, total.freed_bytes, Cell()};
  }
  return table;
}

Table devices_table(const Memory& memory) {
  Table table;
  table.name = "memory_devices";
  table.columns = {{"device", Type::text},
                   {"peak_bytes", Type::integer, Unit::bytes},
                   {"peak_time_ns", Type::integer, Unit::ns, Role::time_start},
                   {"peak_reserved_bytes", Type::integer, Unit::bytes},
                   {"allocated_bytes", Type::integer, Unit::bytes},
                   {"freed_bytes", Type::integer, Unit::bytes},
                   {"events", Type::integer, Unit::count}};
  for (const MemoryDevice& d : memory.devices) {
    table.add_row({d.device, d.peak_bytes, d.peak_time_ns, cells::integer(d.peak_reserved_bytes), d.allocated_bytes,
                   d.freed_bytes, d.events});
  }
  return table;
}

Table holders_table(const Memory& memory) {
  Table table;
  table.name = "peak_holders";
  table.columns = {{"device", Type::text},
                   {"op", Type::text},
                   {"bytes", Type::integer, Unit::bytes},
                   {"pct_peak", Type::number, Unit::percent},
                   {"allocations", Type::integer, Unit::count}};
  std::int64_t bytes = 0, peaks = 0;
  std::optional<std::int64_t> allocations = 0;  // unknown where those of a holder are
  for (const MemoryDevice& d : memory.devices) {
    if (!d.holders.empty()) saturating_add(&peaks, d.peak_bytes);
    for (const MemoryHolder& h : d.holders) {
      saturating_add(&bytes, h.bytes);
      allocations = allocations && h.allocations ? std::optional(*allocations + *h.allocations) : std::nullopt;
      const Cell pct =
          d.peak_bytes == 0 ? Cell() : Cell(100.0 * static_cast<double>(h.bytes) / static_cast<double>(d.peak_bytes));
      table.add_row({d.device, h.op, h.bytes, pct, cells::integer(h.allocations)});
    }
  }
  if (!table.empty()) table.total = Row{Cell(), Cell(), bytes, cells::percent(bytes, peaks), cells::integer(allocations)};
  return table;
}

Table iterations_table(const Memory& memory) {
  Table table;
  table.name = "memory_iterations";
  table.columns = {{"device", Type::text},
                   {"iteration", Type::integer},
                   {"allocations", Type::integer, Unit::count},
                   {"allocated_bytes", Type::integer, Unit::bytes},
                   {"freed_bytes", Type::integer, Unit::bytes},
                   {"peak_bytes", Type::integer, Unit::bytes}};
  for (const MemoryDevice& d : memory.devices) {
    for (const MemoryIteration& i : d.iterations) {
      table.add_row({d.device, i.iteration, i.allocations, i.allocated_bytes, i.freed_bytes, cells::integer(i.peak_bytes)});
    }
  }
  return table;
}

}  // namespace

Report report_memory(const Memory& memory) {
  Report report;
  report.tables = {ops_table(memory), devices_table(memory), holders_table(memory), iterations_table(memory)};
  for (const MemoryDevice& d : memory.devices) {
    if (!d.allocated.empty()) report.series.push_back({"allocated " + d.device, Unit::bytes, d.allocated});
    if (!d.reserved.empty()) report.series.push_back({"reserved " + d.device, Unit::bytes, d.reserved});
  }
  if (memory.no_memory_events) {
    report.diagnostics.push_back({"no_memory_events", 1, "the trace has no memory events: record with profile_memory=True"});
  }
  return report;
}

}  // namespace ridge
