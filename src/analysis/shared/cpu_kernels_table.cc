// Columns and rows of the table; the kernels are facts/cpu_kernel_list.h's.
#include "analysis/shared/cpu_kernels_table.h"

#include <string>

#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "facts/cpu_kernel_list.h"

namespace ridge {

std::optional<Table> cpu_kernels_table(const Scope& scope) {
  const std::vector<CpuKernelCost> kernels = list_cpu_kernels(scope);
  if (kernels.empty()) return std::nullopt;
  Table table;
  table.name = "cpu_kernels";
  table.columns = {{"kernel", Type::text},
                   {"calls", Type::integer, Unit::count},
                   {"cpu_ns", Type::integer, Unit::ns},
                   {"frame", Type::integer},
                   {"graph", Type::text},
                   {"file", Type::text}};
  const std::vector<CompiledCall>& compiled = scope.model().compiled_regions().calls;
  std::int64_t calls = 0, cpu_ns = 0;
  for (const CpuKernelCost& kernel : kernels) {
    const CompiledCall* call = kernel.call == kNoCall ? nullptr : &compiled[kernel.call];
    table.add_row({kernel.kernel, kernel.calls, kernel.cpu_ns,
                   call != nullptr && call->id.frame >= 0 ? Cell(std::int64_t{call->id.frame}) : Cell(),
                   call == nullptr ? Cell() : cells::text(call->key), cells::text(kernel.file)});
    calls += kernel.calls;
    saturating_add(&cpu_ns, kernel.cpu_ns);
  }
  table.total = Row{Cell(), calls, cpu_ns, Cell(), Cell(), Cell()};
  return table;
}

}  // namespace ridge
